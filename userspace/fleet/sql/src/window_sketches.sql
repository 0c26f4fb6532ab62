CREATE VIEW "SCHEMA".window_sketches AS
SELECT observer, window_start, window_start_ns, window_ns, count_min_packets, count_min_bytes
FROM "SCHEMA".windows
WHERE count_min_packets IS NOT NULL
UNION ALL
SELECT
    w.observer, w.window_start, w.window_start_ns, w.window_ns,
    CASE WHEN coalesce(sum(f.packets - f.error_packets), 0) >= w.roce_packets THEN count_min(f.flow_hash, f.packets) END,
    CASE WHEN coalesce(sum(f.packets - f.error_packets), 0) >= w.roce_packets THEN count_min(f.flow_hash, f.frame_bytes) END
FROM (
    SELECT observer, window_start, window_start_ns, max(window_ns) AS window_ns, sum(roce_packets) AS roce_packets
    FROM "SCHEMA".windows
    WHERE count_min_packets IS NULL
    GROUP BY observer, window_start, window_start_ns
) AS w
LEFT JOIN "SCHEMA".flows AS f
    ON f.observer = w.observer AND f.window_start = w.window_start AND f.window_start_ns = w.window_start_ns
GROUP BY w.observer, w.window_start, w.window_start_ns, w.window_ns, w.roce_packets
