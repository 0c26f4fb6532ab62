-- How long do probes take between the NICs of each host, and how often are they lost?
SELECT observer, src_nic, dst_nic,
       count(*) AS probes,
       sum(CASE WHEN outcome = 'received' THEN 0 ELSE 1 END) AS drops,
       min(network_latency_ns) AS min_latency_ns,
       avg(network_latency_ns) AS mean_latency_ns,
       max(network_latency_ns) AS max_latency_ns
FROM probes
WHERE outcome NOT IN ('unsent', 'unknown') AND src_nic <> '' AND dst_nic <> ''
GROUP BY observer, src_nic, dst_nic
ORDER BY mean_latency_ns DESC NULLS LAST, observer, src_nic, dst_nic
LIMIT 50
