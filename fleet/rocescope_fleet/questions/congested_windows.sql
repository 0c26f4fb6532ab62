-- When was the fabric congested: marked packets and CNPs, by box and minute?
SELECT observer,
       window_start_ns - window_start_ns % 60000000000 AS minute_ns,
       sum(ecn_ce_packets) AS ecn_ce_packets,
       sum(cnp_packets) AS cnp_packets,
       sum(roce_packets) AS roce_packets,
       CAST(sum(ecn_ce_packets) AS DOUBLE) / sum(roce_packets) AS marked_ratio
FROM windows
GROUP BY observer, window_start_ns - window_start_ns % 60000000000
HAVING sum(ecn_ce_packets) + sum(cnp_packets) > 0
ORDER BY marked_ratio DESC NULLS LAST, observer, minute_ns
LIMIT 50
