-- Which connections ended with an error: refused, out of retries, or a fatal NAK?
SELECT observer, time_ns, kind, src, dst, dst_qpn, syndrome
FROM events
WHERE kind IN ('fatal_nak', 'retry_exhausted', 'reject')
ORDER BY time_ns, observer, kind, src NULLS LAST, dst NULLS LAST, dst_qpn NULLS LAST
LIMIT 100
