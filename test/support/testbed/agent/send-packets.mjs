import { Buffer } from 'node:buffer';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearInterval, setImmediate, setInterval } from 'node:timers';

const refusals = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'EACCES']);
/** A host out of sockets would look like a host whose packets were dropped: that must not pass for a verdict. */
const ownFaults = new Set(['EMFILE', 'ENFILE', 'EADDRINUSE', 'EADDRNOTAVAIL', 'ENOBUFS', 'EINVAL']);

const SCTP_PORT = 40_000;
/** A checksum, and a chunk INIT. */
const SCTP_INIT = Buffer.from(
  '00000000' + '01000014' + '00010000' + '0000ffff' + '00010001' + '00000001',
  'hex',
);

/**
 * Opens n connections for each probe; answers how many of them met an ICMP error or a reset, and what TCP servers sent, probe by
 * probe, once nothing has come back for quietMs.
 */
export function sendPackets({ probes, quietMs }) {
  return new Promise((resolve, reject) => {
    const refused = probes.map(() => 0);
    const answers = probes.map(() => []);
    const sockets = [];
    let lastSeen = performance.now();

    const closeAll = () => {
      for (const close of sockets) close();
    };
    const failed = (position, error) => {
      lastSeen = performance.now();
      if (refusals.has(error.code)) refused[position] += 1;
      else if (ownFaults.has(error.code)) {
        clearInterval(quiet);
        closeAll();
        reject(new Error(`${JSON.stringify(probes[position])}: ${error.message}`));
      }
    };
    const sendTcp = ({ src, dst, port }, position) => {
      const socket = connect({ host: dst, port, localAddress: src });
      socket.on('error', (error) => failed(position, error));
      // An answer is so short that it comes in one piece.
      socket.on('data', (data) => {
        lastSeen = performance.now();
        answers[position].push(String(data));
      });
      sockets.push(() => socket.destroy());
    };
    const sendUdp = ({ src, dst, port }, position) => {
      const socket = createSocket(dst.includes(':') ? 'udp6' : 'udp4');
      let open = true;
      sockets.push(() => {
        if (open) socket.close();
        open = false;
      });
      socket.on('error', (error) => failed(position, error));
      socket.bind({ address: src, port: 0, exclusive: true }, () => {
        if (!open) return;
        socket.connect(port, dst, (error) => {
          if (error) failed(position, error);
          else if (open) socket.send('x', (sendError) => sendError && failed(position, sendError));
        });
      });
    };

    const sctpSockets = new Map();
    // A datagram of UDP that the host makes the first packet of an association (sctp.ts), from another port each round.
    const sendSctp = ({ src, dst, port }, position, round) => {
      const isIPv6 = dst.includes(':');
      const key = `${isIPv6} ${src} ${round}`;
      let bound = sctpSockets.get(key);
      if (!bound) {
        const socket = createSocket(isIPv6 ? { type: 'udp6', ipv6Only: true } : 'udp4');
        sockets.push(() => socket.close());
        socket.on('error', (error) => failed(position, error));
        bound = new Promise((done) =>
          socket.bind({ address: src, port: SCTP_PORT + round }, () => done(socket)),
        );
        sctpSockets.set(key, bound);
      }
      void bound.then((socket) =>
        socket.send(SCTP_INIT, port, dst, (error) => error && failed(position, error)),
      );
    };

    // Round by round: the first packet of a probe is through before its second leaves, even where a client is to stick.
    // In an order of its own each: where endpoints take turns, no client may always meet the same one.
    const senders = { tcp: sendTcp, udp: sendUdp, sctp: sendSctp };
    const rounds = Math.max(0, ...probes.map(({ n }) => n));
    for (let round = 0; round < rounds; round++) {
      for (const position of shuffled(probes.length)) {
        const probe = probes[position];
        if (round < probe.n) senders[probe.proto](probe, position, round);
      }
    }
    // All answers come from hosts on this machine: a while without any means that there will be none.
    const quiet = setInterval(() => {
      if (performance.now() - lastSeen < quietMs) return;
      clearInterval(quiet);
      closeAll();
      resolve({ refused, answers });
    }, 20);
    setImmediate(() => (lastSeen = performance.now()));
  });
}

/** The numbers below `count` in any order. */
function shuffled(count) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
