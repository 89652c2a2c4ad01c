/*
 * Sends one datagram from each of these ports of each of these addresses: `send-flows.mjs DESTINATION PORT FIRST COUNT SOURCE…`. Each is
 * a connection to the kernel.
 */
import { createSocket } from 'node:dgram';

const [destination, port, first, count, ...sources] = process.argv.slice(2);
const AT_A_TIME = 200;

/** @param {string} source @param {number} sourcePort @returns {Promise<void>} */
const send = (source, sourcePort) =>
  new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.on('error', reject);
    socket.bind({ address: source, port: sourcePort, exclusive: true }, () =>
      socket.send('?', Number(port), destination, (error) => {
        socket.close();
        if (error) reject(error);
        else resolve();
      }),
    );
  });

const ports = Array.from({ length: Number(count) }, (_, offset) => Number(first) + offset);
for (const source of sources)
  for (let at = 0; at < ports.length; at += AT_A_TIME)
    await Promise.all(ports.slice(at, at + AT_A_TIME).map((sourcePort) => send(source, sourcePort)));
