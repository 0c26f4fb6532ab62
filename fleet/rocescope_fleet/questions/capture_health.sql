-- Did every box see all of its traffic, or did captures and mirrors lose packets?
SELECT observer,
       sum(frames) AS frames,
       sum(capture_lost_packets) AS capture_lost_packets,
       sum(coalesce(capture_dropped_frames, 0)) AS capture_dropped_frames,
       sum(coalesce(mirror_lost_packets, 0)) AS mirror_lost_packets,
       sum(late_packets) AS late_packets,
       sum(malformed_frames) AS malformed_frames
FROM windows
GROUP BY observer
ORDER BY observer
