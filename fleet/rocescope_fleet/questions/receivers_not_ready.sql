-- Which receivers had no buffers posted, so that their senders waited (RNR NAKs)?
SELECT src AS receiver,
       count(DISTINCT dst) AS senders,
       sum(count) AS rnr_naks,
       max(value) AS longest_wait_ns
FROM events
WHERE kind = 'rnr_nak'
GROUP BY src
ORDER BY rnr_naks DESC, receiver
LIMIT 20
