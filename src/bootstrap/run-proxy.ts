import { printError } from '../adapters/cli/print-error.js';
import { NetlinkConntrack } from '../adapters/conntrack/netlink-conntrack.js';
import { ManifestFiles } from '../adapters/manifests/manifest-files.js';
import { collectGarbage, exitAtOnce, setOomScore, trimMemory } from '../adapters/process/own-process.js';
import type { PinoLogger } from '../adapters/process/pino-logger.js';
import { SystemClock } from '../adapters/process/system-clock.js';
import { Systemd } from '../adapters/process/systemd.js';
import { Supervision } from '../application/health/proxy-health.js';
import type { EventRecorder } from '../application/ports/event-recorder.js';
import type { Logger } from '../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../application/use-cases/await-lists.js';
import { Cleanup } from '../application/use-cases/cleanup.js';
import type { CommandLine } from './configuration/command-line.js';
import { ConfigurationError } from './configuration/errors.js';
import { followConfiguration } from './follow-configuration.js';
import { followRelease } from './follow-release.js';
import { LifeCycle } from './life-cycle.js';
import { allModes, chooseMode, suggestNftables, modeNotice } from './modes/choose-mode.js';
import {
  removeOtherModes,
  type Leftovers,
  type RemovalProgress,
  cleanUpOtherModes,
} from './modes/remove-other-modes.js';
import { composeProxy } from './proxy.js';
import { protocolsToReset } from './serve-family.js';
import { setUpHost, nodeEvent } from './this-node.js';
import { fullVersion, PROGRAM_VERSION } from './version.js';

/** Runs the action of the flags without a subcommand, and returns the exit code of the program. */
export async function runProxy(commandLine: CommandLine, logger: PinoLogger): Promise<number> {
  if (commandLine.cleanup) {
    await new Cleanup(allModes(commandLine, logger), logger).run();
    return 0;
  }
  if (commandLine.initOnly) return initOnly(commandLine, logger);
  // Before anything of this machine is touched.
  ManifestFiles.open(commandLine.manifests);
  return commandLine.once ? once(commandLine, logger) : run(commandLine, logger);
}

/** Nothing is sent to the API server. What matters is logged as well. */
const NO_EVENTS: EventRecorder = { record: () => undefined };

/**
 * Does what needs privileges once, as an init container would, and ends: checks the mode, and sets connection tracking and what
 * the mode needs (docs/internals/spec/server.md §4, §5.2, §5.4). Rules stay as they are, those of other modes too: they go when new ones
 * stand.
 */
async function initOnly(asked: CommandLine, logger: Logger): Promise<number> {
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const mode = await chosen.open();
  try {
    setUpHost(commandLine, NO_EVENTS, logger);
    await mode.setUp?.();
    if (protocolsToReset(mode, commandLine.configuration).includes('SCTP')) countPackets(logger);
  } finally {
    await mode.close();
  }
  logger.info(
    { mode: mode.name, ...mode.means, families: mode.families },
    'initialized; exiting because of --init-only',
  );
  return 0;
}

/** Whether there will be a Service of SCTP is not known here, and the proxy itself may not be able to set it later. */
function countPackets(logger: Logger): void {
  try {
    new NetlinkConntrack().countPackets();
  } catch (error) {
    logger.warn({ error }, 'packets of SCTP associations will not be counted');
  }
}

/**
 * Syncs once, removes the rules of other modes and leaves its own: 0 when everything is programmed and nothing else
 * remains, otherwise 1 with the reasons on standard error. Throws when nothing comes from the API server for `timeout`
 * milliseconds.
 */
export async function once(asked: CommandLine, logger: Logger, timeout = LISTING_TIMEOUT): Promise<number> {
  const followed = await followRelease(asked, logger);
  const { commandLine, mode: chosen } = await chooseMode(followed, logger);
  if (chosen.name === 'userspace')
    throw new ConfigurationError('failed validate', [
      'userspace mode forwards connections only while it runs: --once would leave rules that lead nowhere',
    ]);
  const mode = await chosen.open();
  const { configuration } = commandLine;
  const silent = {
    ...commandLine,
    configuration: { ...configuration, healthzBindAddress: '', metricsBindAddress: '' },
  };
  const parts = composeProxy(silent, mode, logger);
  const { source, served: families, statuses, reports, clock, ready } = parts;
  const life = new LifeCycle(clock, logger.child({ caller: 'life-cycle' }));
  life.add(...parts.running);
  try {
    await life.start();
    await awaitLists(source, timeout, clock);
    const loops = families.map(({ loop }) => loop);
    const attempts = Promise.all(loops.map((loop) => loop.firstAttempt));
    const outcomes = await Promise.race([attempts, ready.failure]);
    await Promise.all(families.flatMap(({ conntrack }) => conntrack).map((one) => one.inSync()));
    const failures = families.flatMap(({ family }) =>
      statuses.failures(family).map(({ servicePort, reason }) => `${servicePort} (${family}): ${reason}`),
    );
    const reasons = [
      ...outcomes.flatMap((error) => error ?? []),
      ...failures,
      ...reports.rejected,
      ...source.problems,
    ];
    const leftovers = await removeOtherModes(loops, allModes(commandLine, logger), mode);
    const left = [...leftovers.left, ...leftovers.failed];
    for (const reason of reasons) printError(`not programmed: ${reason}`);
    for (const reason of left) printError(`not removed: ${reason}`);
    return reasons.length + left.length === 0 ? 0 : 1;
  } finally {
    await life.stop();
  }
}

/**
 * Serves until SIGTERM or SIGINT, following edits of the configuration file, or rejects when it cannot continue. The rules
 * stay. The signal is heeded at any time, also during the start.
 */
async function run(asked: CommandLine, logger: PinoLogger): Promise<number> {
  const life = new LifeCycle(new SystemClock(), logger);
  const stopping = new AbortController();
  try {
    const followed = followRelease(asked, logger, stopping.signal);
    const serving = followed.then((commandLine) => serve(commandLine, logger, life));
    const signal = await Promise.race([endSignal(), serving]);
    logger.info({ signal }, 'stopping; the rules stay in place');
    return 0;
  } finally {
    stopping.abort();
    await life.stop();
  }
}

/** Rejects when it cannot continue, and never resolves. */
async function serve(asked: CommandLine, logger: PinoLogger, life: LifeCycle): Promise<never> {
  await suggestNftables(asked, logger);
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const { nodeName, configuration } = commandLine;
  const mode = await chosen.open();
  const { name, means, families } = mode;
  logger.info(
    {
      version: PROGRAM_VERSION,
      kubernetes: fullVersion(configuration.kubernetesVersion),
      mode: name,
      ...means,
      families,
      node: nodeName,
    },
    'starting',
  );
  const parts = composeProxy(commandLine, mode, logger, {
    setUpMachine:
      ({ eventRecorder }) =>
      async () => {
        // The first lists have been decoded: of 160 MB with 10,000 Services, 10 MB are free again.
        trimMemory();
        setUpHost(commandLine, eventRecorder, logger);
        await mode.setUp?.();
      },
  });
  const { eventRecorder: events, clock, health, served, ready, running } = parts;
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
      cleanUp = cleanUpOtherModes(remove, parts, stopping);
      void cleanUp.then(() => {
        // Some may have begun by those rules just before they went.
        for (const flows of served.flatMap(({ conntrack }) => conntrack)) flows.repaired();
        void collectGarbage();
      });
    },
    // A removal in progress is completed.
    stop: () => cleanUp,
  });
  if (asked.config !== '')
    life.add({
      name: 'configuration file',
      start(stopping) {
        edits = followConfiguration(asked, parts, logger, stopping);
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
    if (notice.reason !== undefined)
      events.record(nodeEvent(nodeName, 'Warning', notice.reason, notice.note));
  }
  await Promise.race([edits, ready.failure]);
  return ready.failure;
}

/**
 * The first signal to stop; a second one ends the process immediately. The listeners stay: the library for child processes
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
