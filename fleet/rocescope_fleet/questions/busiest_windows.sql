-- Which windows were the busiest of each box?
SELECT observer, window_start_ns, gbit_s, flows, elephant_flows
FROM (
    SELECT observer, window_start_ns, flows, elephant_flows,
           CAST(frame_bytes AS DOUBLE) * 8 / window_ns AS gbit_s,
           row_number() OVER (PARTITION BY observer ORDER BY frame_bytes DESC, window_start_ns) AS place
    FROM windows
) AS ranked
WHERE place <= 3
ORDER BY observer, place
