-- Between which pairs of addresses did the fabric lose packets, by minute?
SELECT src, dst,
       time_ns - time_ns % 60000000000 AS minute_ns,
       sum(count) AS fabric_lost_packets
FROM events
WHERE kind = 'loss' AND src IS NOT NULL
GROUP BY src, dst, time_ns - time_ns % 60000000000
ORDER BY fabric_lost_packets DESC, src, dst, minute_ns
LIMIT 50
