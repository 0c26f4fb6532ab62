-- Which twenty flows sent the most bytes?
SELECT src, dst, dst_qpn, udp_src_port,
       max(service) AS service,
       sum(packets) AS packets,
       sum(frame_bytes) AS frame_bytes,
       sum(error_frame_bytes) AS error_frame_bytes,
       max(frame_bps) AS peak_bps
FROM flows
GROUP BY src, dst, dst_qpn, udp_src_port
ORDER BY frame_bytes DESC, src, dst, dst_qpn, udp_src_port NULLS LAST
LIMIT 20
