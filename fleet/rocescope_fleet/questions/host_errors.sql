-- Which counters of errors, drops and congestion grew at which ports of hosts?
SELECT observer, device, port, metric, unit,
       sum(increase) AS increase,
       max(time_ns) AS last_ns
FROM counters
WHERE sign = 'negative' AND increase > 0
GROUP BY observer, device, port, metric, unit
ORDER BY increase DESC, observer, device, port NULLS LAST, metric
LIMIT 50
