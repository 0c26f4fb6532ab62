-- Which NICs lose probes, in which direction, and is any above the ten percent of Hostmesh?
SELECT nic, direction,
       count(*) AS probes,
       sum(CASE WHEN outcome = 'received' THEN 0 ELSE 1 END) AS drops,
       CAST(sum(CASE WHEN outcome = 'received' THEN 0 ELSE 1 END) AS DOUBLE) / count(*) AS drop_ratio
FROM (
    SELECT dst AS nic, 'to' AS direction, outcome FROM probes WHERE outcome NOT IN ('unsent', 'unknown')
    UNION ALL
    SELECT src AS nic, 'from' AS direction, outcome FROM probes WHERE outcome NOT IN ('unsent', 'unknown')
) AS both_ends
GROUP BY nic, direction
HAVING sum(CASE WHEN outcome = 'received' THEN 0 ELSE 1 END) > 0
ORDER BY drop_ratio DESC, drops DESC, nic, direction
LIMIT 50
