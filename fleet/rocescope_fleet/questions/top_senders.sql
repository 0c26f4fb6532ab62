-- Which twenty hosts sent the most bytes, and to how many others?
SELECT src,
       sum(frame_bytes) AS frame_bytes,
       sum(packets) AS packets,
       count(DISTINCT dst) AS destinations
FROM flows
GROUP BY src
ORDER BY frame_bytes DESC, src
LIMIT 20
