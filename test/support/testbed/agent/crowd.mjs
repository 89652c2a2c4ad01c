import { connect } from 'node:net';
import { clearInterval, setImmediate, setInterval } from 'node:timers';

let ending;

/**
 * Clients that keep a server busy, until `endCrowd`: they `hold` so many connections, and open another for each that ends, or open
 * `perSecond` from each source. `said` is what they send; then they are silent.
 */
export async function crowd({ dst, port, sources, hold = 0, perSecond = 0, said = '' }) {
  const stats = { tried: 0, connected: 0 };
  const sockets = new Set();
  let isOver = false;
  const open = (source, reopens) => {
    if (isOver) return;
    stats.tried++;
    const socket = connect({ host: dst, port, localAddress: source });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('connect', () => {
      stats.connected++;
      if (said !== '') socket.write(said);
    });
    socket.once('close', () => {
      sockets.delete(socket);
      if (reopens) setImmediate(() => open(source, true));
    });
    socket.resume();
  };
  for (let n = 0; n < hold; n++) open(sources[n % sources.length], true);
  const tenth = () => {
    for (const source of sources) for (let n = 0; n < perSecond / 10; n++) open(source, false);
  };
  const timer = perSecond > 0 ? setInterval(tenth, 100) : undefined;
  ending = () => {
    isOver = true;
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    return stats;
  };
  return {};
}

/** Ends the crowd, and says how many connections it tried to open, and how many it had. */
export async function endCrowd() {
  return ending();
}
