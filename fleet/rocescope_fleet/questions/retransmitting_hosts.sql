-- Which ten hosts retransmitted the most packets, and what share of theirs is that?
SELECT src,
       sum(retransmitted_packets) AS retransmitted_packets,
       sum(packets) AS packets,
       CAST(sum(retransmitted_packets) AS DOUBLE) / sum(packets) AS retransmitted_ratio
FROM flows
WHERE retransmitted_packets IS NOT NULL
GROUP BY src
HAVING sum(retransmitted_packets) > 0
ORDER BY retransmitted_packets DESC, src
LIMIT 10
