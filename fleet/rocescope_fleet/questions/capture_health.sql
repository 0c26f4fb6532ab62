-- Did every box see all of its traffic, or did captures and mirrors lose packets?
SELECT observer,
       sum(frames) AS frames,
       sum(lost_packets) AS lost_packets,
       sum(coalesce(dropped_frames, 0)) AS dropped_frames,
       sum(coalesce(mirror_lost_packets, 0)) AS mirror_lost_packets,
       sum(late_packets) AS late_packets,
       sum(malformed_frames) AS malformed_frames
FROM windows
GROUP BY observer
ORDER BY observer
