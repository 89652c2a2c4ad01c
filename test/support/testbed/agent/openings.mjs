import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';

let ending;

/**
 * Opens so many connections a second, as far as this process can, and ends each as soon as it stands; until `endOpenings`.
 * @param waits for the other end to end it
 */
export async function openings({ dst, port, perSecond, waits = false }) {
  const begun = performance.now();
  const failed = {};
  const running = new Set();
  let tried = 0;
  const one = () =>
    new Promise((resolve) => {
      tried++;
      const socket = connect({ host: dst, port }, () => waits || socket.end());
      socket.on('error', ({ code }) => (failed[code] = (failed[code] ?? 0) + 1));
      socket.once('close', resolve);
      socket.resume();
    });
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1_000) * perSecond;
    // Those that are overdue do not come all at once.
    for (let n = 0; tried < due && n < perSecond / 50; n++) {
      const ended = one().then(() => running.delete(ended));
      running.add(ended);
    }
  }, 10);
  ending = async () => {
    clearInterval(timer);
    const seconds = (performance.now() - begun) / 1_000;
    await Promise.all(running);
    return { tried, failed, perSecond: Math.round(tried / seconds) };
  };
  return {};
}

/** How many connections were tried, how often which error ended one, and how many were tried a second. */
export async function endOpenings() {
  return ending();
}
