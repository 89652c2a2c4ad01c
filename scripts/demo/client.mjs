/**
 * The client outside the node. Reads one line of JSON for each round, `{ "requests": N, "timeout": MS, "targets":
 * ["host:port", …] }`, sends that many requests to every target, each over a new connection, waits up to the timeout
 * for each response, and prints one line of JSON: the count of each response, for every target. Ends when its input is
 * closed.
 */
import { get } from 'node:http';
import { createInterface } from 'node:readline';

const failures = { ECONNREFUSED: 'refused', ENETUNREACH: 'unreachable', EHOSTUNREACH: 'unreachable' };

function ask(target, timeout) {
  return new Promise((resolve) => {
    const request = get(`http://${target}/`, { agent: false, timeout }, (response) => {
      let body = '';
      response.on('data', (chunk) => (body += chunk));
      response.on('end', () => resolve(body.trim()));
      response.on('error', () => resolve('broken'));
    });
    request.on('timeout', () => {
      resolve('no answer');
      request.destroy();
    });
    request.on('error', (error) => resolve(failures[error.code] ?? error.code ?? error.message));
  });
}

async function tally(target, requests, timeout) {
  const answers = await Promise.all(Array.from({ length: requests }, () => ask(target, timeout)));
  const counts = {};
  for (const answer of answers.sort()) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { requests, timeout, targets } = JSON.parse(line);
  console.log(JSON.stringify(await Promise.all(targets.map((target) => tally(target, requests, timeout)))));
}
