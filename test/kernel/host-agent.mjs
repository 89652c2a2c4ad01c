/**
 * Runs inside one test host (`ip netns exec HOST node host-agent.mjs`) and does there what a test asks for,
 * one JSON object a line on stdin, one answer a line on stdout:
 *
 * - `{ id, op: 'send', probes: [{ src?, dst, proto, port, n }], quietMs }` opens n connections for each probe and
 *   answers `{ id, refused: [number of connections that met an ICMP error or a reset] }`.
 * - `{ id, op: 'get', url }` answers `{ id, status, body }`.
 *
 * It stays up between requests, so that a probe does not pay for starting a process. Plain JavaScript, no package.
 */
import { createSocket } from 'node:dgram';
import { get } from 'node:http';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { clearInterval, setImmediate, setInterval } from 'node:timers';

const refusals = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'EACCES']);
/** A test host out of sockets would look like a host whose packets were dropped: that must not pass for a verdict. */
const ownFaults = new Set(['EMFILE', 'ENFILE', 'EADDRINUSE', 'EADDRNOTAVAIL', 'ENOBUFS', 'EINVAL']);

function send({ probes, quietMs }) {
  return new Promise((resolve, reject) => {
    const refused = probes.map(() => 0);
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

    // Round by round: the first packet of a probe is through before its second leaves, even where a client is to stick.
    const rounds = Math.max(0, ...probes.map(({ n }) => n));
    for (let round = 0; round < rounds; round++) {
      probes.forEach((probe, position) => {
        if (round >= probe.n) return;
        (probe.proto === 'tcp' ? sendTcp : sendUdp)(probe, position);
      });
    }
    // All answers come from hosts on this machine: a while without any means that there will be none.
    const quiet = setInterval(() => {
      if (performance.now() - lastSeen < quietMs) return;
      clearInterval(quiet);
      closeAll();
      resolve({ refused });
    }, 20);
    setImmediate(() => (lastSeen = performance.now()));
  });
}

function fetchText({ url }) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: 2000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode, body }));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error(`${url}: no answer within 2 s`)));
    request.on('error', reject);
  });
}

const operations = { send, get: fetchText };

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  operations[request.op](request).then(
    (answer) => process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`),
    (error) => process.stdout.write(`${JSON.stringify({ id: request.id, error: String(error) })}\n`),
  );
});
process.stdin.on('end', () => process.exit(0));
