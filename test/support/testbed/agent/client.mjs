import { Buffer } from 'node:buffer';
import { createSocket } from 'node:dgram';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';

/**
 * How long an answer may take where nothing is measured, in milliseconds: long enough that only a lost one takes longer, also on a
 * machine that does other things.
 */
const USUAL = 5_000;

/**
 * One HTTP GET; on a connection of its own unless an agent keeps one. The time limit is for all of it: request.setTimeout
 * would count only from when the connection stands, which to an address that swallows packets is never.
 */
export function httpGet({ url, src, timeoutMs = USUAL, agent = false }) {
  let late;
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, localAddress: src }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (body += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    late = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    request.on('error', reject);
  })
    .catch((error) => Promise.reject(new Error(`${url}: ${error.message}`)))
    .finally(() => clearTimeout(late));
}

/** As httpGet on a connection of its own, for who asks all the time: Node's client takes twice as long for it. */
function getAnew({ dst, port, src, timeoutMs = USUAL }) {
  let late;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: dst, port, localAddress: src }).setEncoding('utf8');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const [, length, body] =
        /^HTTP[^]*\r\nContent-Length: (\d+)(?=\r\n)[^]*?\r\n\r\n([^]*)$/.exec(answer) ?? [];
      if (body?.length === Number(length)) resolve({ body });
      else reject(new Error('socket hang up'));
    });
    late = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.write('GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n');
  })
    .catch((error) => Promise.reject(new Error(`${urlOf(dst, port)}: ${error.message}`)))
    .finally(() => clearTimeout(late));
}

/** One datagram and its answer, from a socket of its own. */
export async function udpAsk({ dst, port, src, timeoutMs = USUAL }) {
  const socket = await openUdp({ dst, port, src });
  try {
    return await askOn(socket, timeoutMs);
  } finally {
    socket.close();
  }
}

/** Sends one datagram, whose bytes are given in hexadecimal, and listens for nothing. */
export async function sendDatagram({ dst, port, sourcePort, hex }) {
  const socket = await openUdp({ dst, port, sourcePort });
  await new Promise((resolve, reject) =>
    socket.send(Buffer.from(hex, 'hex'), (error) => (error ? reject(error) : resolve())),
  );
  socket.close();
  return {};
}

function openUdp({ dst, port, src, sourcePort = 0 }) {
  return new Promise((resolve, reject) => {
    const socket = createSocket(dst.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', reject);
    socket.bind({ address: src, port: sourcePort, exclusive: true }, () =>
      socket.connect(port, dst, (error) => (error ? reject(error) : resolve(socket))),
    );
  });
}

function askOn(socket, timeoutMs) {
  return new Promise((resolve, reject) => {
    const end = (settle, value) => {
      clearTimeout(late);
      socket.removeAllListeners('message');
      socket.removeAllListeners('error');
      socket.on('error', () => {}); // an ICMP error that comes when nobody asks any more
      settle(value);
    };
    const late = setTimeout(() => end(reject, new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.removeAllListeners('error');
    socket.once('message', (message) => end(resolve, { body: message.toString() }));
    socket.once('error', (error) => end(reject, error));
    socket.send('?', (error) => error && end(reject, error));
  });
}

const opened = new Map();
let lastHandle = 0;

/** Opens something that stays between requests: a kept HTTP connection, a UDP socket. Answers its handle. */
export async function open({ what, dst, port, src }) {
  const handle = ++lastHandle;
  if (what === 'udp') {
    const socket = await openUdp({ dst, port, src });
    opened.set(handle, ({ timeoutMs = USUAL }) => askOn(socket, timeoutMs));
  } else {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let connections = 0;
    const createConnection = agent.createConnection.bind(agent);
    agent.createConnection = (...parameters) => {
      connections += 1;
      return createConnection(...parameters);
    };
    opened.set(handle, async ({ timeoutMs }) => {
      const answer = await httpGet({ url: urlOf(dst, port), src, timeoutMs, agent });
      return { ...answer, connections };
    });
    await opened.get(handle)({});
  }
  return { handle };
}

/** One more request over what `open` opened; for HTTP with the number of connections it has taken so far. */
export function ask({ handle, timeoutMs }) {
  return opened.get(handle)({ timeoutMs });
}

/**
 * Asks every everyMs, whatever became of the request before, until stopped.
 * A request is { sentAt, answeredAt: ms since 1970; body or error }.
 */
export async function startAsking({ what, dst, port, src, everyMs, timeoutMs }) {
  const handle = ++lastHandle;
  const done = [];
  const running = new Set();
  const timer = setInterval(() => {
    const sentAt = Date.now();
    const request = (what === 'udp' ? udpAsk : getAnew)({ dst, port, src, timeoutMs });
    const ended = request
      .then(
        ({ body }) => ({ body }),
        (error) => ({ error: error.message }),
      )
      .then((result) => {
        done.push({ sentAt, answeredAt: Date.now(), ...result });
        running.delete(ended);
      });
    running.add(ended);
  }, everyMs);
  opened.set(handle, async () => {
    clearInterval(timer);
    await Promise.all(running);
    return { requests: done.sort((a, b) => a.sentAt - b.sentAt) };
  });
  return { handle };
}

/** Waits for the requests that are still out, and answers all. */
export async function stopAsking({ handle }) {
  const stop = opened.get(handle);
  opened.delete(handle);
  return stop();
}

function urlOf(dst, port) {
  return `http://${dst.includes(':') ? `[${dst}]` : dst}:${port}/`;
}
