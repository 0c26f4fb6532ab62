-- How even are flows over the UDP source ports that ECMP hashes, and which ports carry the most?
SELECT udp_src_port,
       count(DISTINCT flow_hash) AS flows,
       sum(frame_bytes) AS frame_bytes
FROM flows
WHERE udp_src_port IS NOT NULL
GROUP BY udp_src_port
ORDER BY frame_bytes DESC, udp_src_port
LIMIT 20
