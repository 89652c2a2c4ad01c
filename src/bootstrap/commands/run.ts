import { exitAtOnce } from '../../adapters/process/exit-at-once.js';
import { releaseMemory } from '../../adapters/process/release-memory.js';
import { setOomScore } from '../../adapters/process/oom-score.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import type { CommandLine } from '../configuration/command-line.js';
import { followConfiguration } from './follow-configuration.js';
import { CLOCK, EVENT_RECORDER, SYNC_LOOPS } from '../identifiers.js';
import { allModes, chooseMode } from '../modes/choose-mode.js';
import { removeOtherModes } from '../modes/remove-other-modes.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import { tellOfNftables } from '../modes/tell-of-nftables.js';
import { setUpHost } from '../node/host-setup.js';
import { nodeEvent } from '../node/node-event.js';
import { composeProxy, Proxy } from '../proxy.js';
import { versionLine } from '../version.js';

const IPVS_ENDS = 'The ipvs proxy mode is deprecated and will be removed; use nftables instead.';

/**
 * Serves until SIGTERM or SIGINT, following edits of the configuration file, or rejects when it cannot go on. The rules
 * stay. The signal is heeded at any time, the start included.
 */
export async function run(asked: CommandLine, logger: PinoLogger): Promise<number> {
  const stopping = new AbortController();
  const running = new LifeCycle(new SystemClock(), logger);
  try {
    const signal = await Promise.race([endSignal(), serve(asked, logger, running, stopping.signal)]);
    logger.info({ signal }, 'stopping; the rules stay');
    return 0;
  } finally {
    stopping.abort();
    await running.stop();
  }
}

/** Rejects when it cannot go on, and never resolves. */
async function serve(
  asked: CommandLine,
  logger: PinoLogger,
  running: LifeCycle,
  stopping: AbortSignal,
): Promise<never> {
  await tellOfNftables(asked, logger);
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const mode = await chosen.open();
  const { name, means, families } = mode;
  logger.info(
    { version: versionLine(), mode: name, ...means, families, node: commandLine.nodeName },
    'starting',
  );
  const container = composeProxy(commandLine, mode, logger);
  const proxy = new Proxy(container, running);
  const events = container.get(EVENT_RECORDER);
  setUpHost(commandLine, events, logger);
  await setOomScore(commandLine.configuration.oomScoreAdj, container.get(CLOCK), logger);
  stopping.throwIfAborted();
  await proxy.start();
  events.record(nodeEvent(commandLine.nodeName, 'Normal', 'Starting'));
  if (name === 'ipvs') {
    logger.error({ mode: name }, IPVS_ENDS);
    events.record(nodeEvent(commandLine.nodeName, 'Warning', 'IPVSDeprecation', IPVS_ENDS));
  }
  const others = allModes(commandLine, logger);
  void removeOtherModes(container.get(SYNC_LOOPS), others, mode, stopping)
    .then((left) => {
      for (const problem of left) logger.warn({ problem }, 'rules of other modes are left');
    })
    .finally(releaseMemory);
  await Promise.race([followConfiguration(asked, container, logger, stopping), proxy.failure]);
  return proxy.failure;
}

/**
 * The first signal that asks for the end; a second one ends the process at once. The listeners stay: whoever minds child
 * processes ends this one at a signal that nobody else listens to.
 */
function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) exitAtOnce(1);
        asked = true;
        resolve(signal);
      });
    }
  });
}
