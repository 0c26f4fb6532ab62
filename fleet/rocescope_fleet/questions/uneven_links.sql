-- Which links carry more flows than their share, in the newest run of paths?
SELECT l.observer, l.from AS from_node, l.from_port, l.to AS to_node, l.to_port, l.flows, l.ideal_flows, l.deviation_ratio
FROM link_loads AS l
JOIN (SELECT observer, max(window_start_ns) AS window_start_ns FROM link_loads GROUP BY observer) AS newest
  ON l.observer = newest.observer AND l.window_start_ns = newest.window_start_ns
WHERE l.ideal_flows IS NOT NULL
ORDER BY l.deviation_ratio DESC, l.observer, from_node, l.from_port
LIMIT 50
