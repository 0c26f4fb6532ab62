-- Which twenty hosts received the most bytes, and from how many others at once (incast)?
SELECT dst,
       sum(frame_bytes) AS frame_bytes,
       max(sources) AS max_sources_in_a_window
FROM (
    SELECT dst, window_start_ns, sum(frame_bytes) AS frame_bytes, count(DISTINCT src) AS sources
    FROM flows
    GROUP BY dst, window_start_ns
) AS each_window
GROUP BY dst
ORDER BY frame_bytes DESC, dst
LIMIT 20
