-- What do the boxes carry: packets, bytes and messages of each opcode?
SELECT opcode,
       sum(packets) AS packets,
       sum(frame_bytes) AS frame_bytes,
       sum(messages) AS messages,
       CAST(sum(payload_bytes) AS DOUBLE) / sum(packets) AS mean_payload_bytes
FROM opcodes
GROUP BY opcode
ORDER BY packets DESC, opcode
