-- Which connections have the longest round trips, and the longest completion times?
SELECT observer, src, dst, src_qpn, dst_qpn, service,
       rtt_samples,
       rtt_min_ns,
       rtt_p50_ns,
       rtt_p99_ns,
       completion_p99_ns
FROM (
    SELECT c.*, row_number() OVER (PARTITION BY observer, connection, role ORDER BY time_ns DESC) AS newest
    FROM connections AS c
) AS latest
WHERE newest = 1 AND rtt_samples > 0
ORDER BY rtt_p99_ns DESC NULLS LAST, observer, src, dst, src_qpn NULLS LAST, dst_qpn NULLS LAST
LIMIT 20
