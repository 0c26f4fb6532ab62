-- Which flows were marked by ECN, and at what share of their packets?
SELECT src, dst, dst_qpn,
       sum(ecn_ce_packets) AS ecn_ce_packets,
       sum(packets) AS packets,
       CAST(sum(ecn_ce_packets) AS DOUBLE) / sum(packets) AS marked_ratio
FROM flows
GROUP BY src, dst, dst_qpn
HAVING sum(ecn_ce_packets) > 0
ORDER BY ecn_ce_packets DESC, src, dst, dst_qpn
LIMIT 50
