-- Which kinds of events happened, how often, and between how many pairs of addresses?
SELECT observer, kind,
       count(*) AS events,
       sum(count) AS packets_or_changes,
       count(DISTINCT src || ' ' || dst) AS pairs,
       min(time_ns) AS first_ns,
       max(time_ns) AS last_ns
FROM events
GROUP BY observer, kind
ORDER BY observer, events DESC, kind
