/**
 * Runs inside one test host (`ip netns exec HOST node main.mjs`) and does there what a test asks for: requests
 * `{ id, op, … }` come in as lines of JSON on stdin, answers `{ id, … }` or `{ id, error }` go out on stdout.
 * It stays up between requests, so that none pays for starting a process. Plain JavaScript without packages.
 */
import { createInterface } from 'node:readline';
import { crowd, endCrowd } from './crowd.mjs';
import { ask, httpGet, open, sendDatagram, startAsking, stopAsking, udpAsk } from './client.mjs';
import { answerEverywhere, hold, release, sayHeld } from './endpoints.mjs';
import { sayAndListen, serveAfterEnd } from './half-close.mjs';
import { endOpenings, openings } from './openings.mjs';
import { relay } from './relay.mjs';
import { sendPackets } from './send-packets.mjs';
import { accepted, endAccepted, serveSlowly, stay } from './slow-server.mjs';
import { connectMany, connectOnce, openTcp, sayUntilEnd, serveTransfers, transfer } from './transfers.mjs';
import { serve } from './server.mjs';

const operations = {
  sendPackets,
  sendDatagram,
  httpGet,
  udpAsk,
  open,
  ask,
  startAsking,
  stopAsking,
  serve,
  answerEverywhere,
  hold,
  sayHeld,
  release,
  serveAfterEnd,
  sayAndListen,
  relay,
  serveSlowly,
  accepted,
  endAccepted,
  stay,
  crowd,
  endCrowd,
  openings,
  endOpenings,
  serveTransfers,
  transfer,
  connectMany,
  connectOnce,
  openTcp,
  sayUntilEnd,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, op, ...request } = JSON.parse(line);
  operations[op](request).then(
    (answer) => process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`),
    (error) => process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`),
  );
});
process.stdin.on('end', () => process.exit(0));
