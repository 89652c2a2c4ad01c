import { exitAtOnce, setOomScore, collectGarbage } from '../../adapters/process/own-process.js';
import { Systemd } from '../../adapters/process/systemd.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { Supervision } from '../../application/health/proxy-health.js';
import type { CommandLine } from '../configuration/command-line.js';
import { followConfiguration } from './follow-configuration.js';
import { allModes, chooseMode } from '../modes/choose-mode.js';
import { cleanUpOtherModes } from '../modes/clean-up-other-modes.js';
import { modeNotice } from '../modes/mode-notice.js';
import { removeOtherModes, type Leftovers, type RemovalProgress } from '../modes/remove-other-modes.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import { suggestNftables } from '../modes/suggest-nftables.js';
import { setUpHost } from '../node/host-setup.js';
import { nodeEvent } from '../node/node-event.js';
import { composeProxy } from '../proxy.js';
import { versionLine } from '../version.js';

/**
 * Serves until SIGTERM or SIGINT, following edits of the configuration file, or rejects when it cannot go on. The rules
 * stay. The signal is heeded at any time, also during the start.
 */
export async function run(asked: CommandLine, logger: PinoLogger): Promise<number> {
  const life = new LifeCycle(new SystemClock(), logger);
  try {
    const signal = await Promise.race([endSignal(), serve(asked, logger, life)]);
    logger.info({ signal }, 'stopping; the rules stay in place');
    return 0;
  } finally {
    await life.stop();
  }
}

/** Rejects when it cannot go on, and never resolves. */
async function serve(asked: CommandLine, logger: PinoLogger, life: LifeCycle): Promise<never> {
  await suggestNftables(asked, logger);
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const { nodeName, configuration } = commandLine;
  const mode = await chosen.open();
  const { name, means, families } = mode;
  logger.info(
    { version: versionLine(configuration.kubernetesVersion), mode: name, ...means, families, node: nodeName },
    'starting',
  );
  const container = composeProxy(commandLine, mode, logger, {
    setUpMachine:
      ({ eventRecorder }) =>
      async () => {
        setUpHost(commandLine, eventRecorder, logger);
        await mode.setUp?.();
      },
  });
  const { eventRecorder: events, clock, health, served, ready, running } = container.parts;
  life.add({
    name: 'OOM score',
    start: () => setOomScore(configuration.oomScoreAdj, clock, logger),
  });
  life.add(...running);
  const loops = served.map(({ loop }) => loop);
  let edits: Promise<void> = Promise.resolve();
  let cleanUp: Promise<void> = Promise.resolve();
  life.add({
    name: 'clean-up of other modes',
    start(stopping) {
      const modes = allModes(commandLine, logger);
      const remove = (progress: RemovalProgress): Promise<Leftovers> =>
        removeOtherModes(loops, modes, mode, stopping, progress);
      cleanUp = cleanUpOtherModes(remove, container.parts, stopping);
      void cleanUp.then(() => {
        // Some may have begun by those rules just before they went.
        for (const flows of served.flatMap(({ conntrack }) => conntrack)) flows.repaired();
        void collectGarbage();
      });
    },
    // What is being removed is not left half-way.
    stop: () => cleanUp,
  });
  if (asked.config !== '')
    life.add({
      name: 'configuration file',
      start(stopping) {
        edits = followConfiguration(asked, container.parts, logger, stopping);
        // Heard once everything has started.
        edits.catch(() => {});
      },
    });
  const manager = Systemd.fromEnvironment(process.env, logger);
  if (manager) {
    const supervision = new Supervision(manager, health, clock);
    life.add({
      name: 'service manager',
      start: () => supervision.start(),
      stop: () => supervision.stop(),
    });
  }
  await life.start();
  events.record(nodeEvent(nodeName, 'Normal', 'Starting'));
  const notice = modeNotice(asked.configuration);
  if (notice) {
    logger[notice.severity]({ mode: name }, notice.note);
    events.record(nodeEvent(nodeName, 'Warning', notice.reason, notice.note));
  }
  await Promise.race([edits, ready.failure]);
  return ready.failure;
}

/**
 * The first signal to stop; a second one ends the process at once. The listeners stay: the library for child processes
 * ends this process at a signal that has no other listener.
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
