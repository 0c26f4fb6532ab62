-- Which connections lost packets in the fabric, and on which side of the tap?
SELECT observer, src, dst, src_qpn, dst_qpn,
       fabric_lost_upstream_packets,
       fabric_lost_downstream_packets,
       unanswered_packets,
       retransmitted_packets,
       timeouts,
       packets
FROM (
    SELECT c.*, row_number() OVER (PARTITION BY observer, connection, role ORDER BY time_ns DESC) AS newest
    FROM connections AS c
) AS latest
WHERE newest = 1 AND fabric_lost_upstream_packets + fabric_lost_downstream_packets + unanswered_packets > 0
ORDER BY fabric_lost_upstream_packets + fabric_lost_downstream_packets + unanswered_packets DESC,
         observer, src, dst, src_qpn NULLS LAST, dst_qpn NULLS LAST
LIMIT 50
