import type { Container } from 'inversify';
import { releaseMemory } from '../../adapters/process/release-memory.js';
import { setOomScore } from '../../adapters/process/oom-score.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { followConfiguration } from '../follow-configuration.js';
import { CLOCK, EVENT_RECORDER, SYNC_LOOPS } from '../identifiers.js';
import { allModes, chooseMode } from '../modes/choose-mode.js';
import type { OpenMode } from '../modes/open-mode.js';
import { tellOfNftables } from '../modes/tell-of-nftables.js';
import { setUpHost } from '../host-setup.js';
import { nodeEvent } from '../node-event.js';
import { composeProxy, Proxy } from '../proxy.js';
import { versionLine } from '../version.js';

const IPVS_ENDS = 'The ipvs proxy mode is deprecated and will be removed; use nftables instead.';

/**
 * Serves until SIGTERM or SIGINT, following edits of the configuration file, or rejects when it cannot go on. The rules
 * stay.
 */
export async function run(asked: CommandLine, logger: PinoLogger): Promise<number> {
  const ended = endSignal();
  await tellOfNftables(asked, logger);
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const mode = await chosen.open();
  const { name, means, families } = mode;
  logger.info(
    { version: versionLine(), mode: name, ...means, families, node: commandLine.nodeName },
    'starting',
  );
  const container = composeProxy(commandLine, mode, logger);
  const proxy = new Proxy(container);
  const stopping = new AbortController();
  try {
    const events = container.get(EVENT_RECORDER);
    setUpHost(commandLine, events, logger);
    await setOomScore(commandLine.configuration.oomScoreAdj, container.get(CLOCK), logger);
    await proxy.start();
    events.record(nodeEvent(commandLine.nodeName, 'Normal', 'Starting'));
    if (name === 'ipvs') {
      logger.error({ mode: name }, IPVS_ENDS);
      events.record(nodeEvent(commandLine.nodeName, 'Warning', 'IPVSDeprecation', IPVS_ENDS));
    }
    void removeOtherModes(container, commandLine, mode, logger, stopping.signal).finally(releaseMemory);
    const edits = followConfiguration(asked, container, logger, stopping.signal).then(() => ended);
    logger.info({ signal: await Promise.race([ended, proxy.failure, edits]) }, 'stopping; the rules stay');
    return 0;
  } finally {
    stopping.abort();
    await proxy.stop();
  }
}

/**
 * Rules of other modes, our own or kube-proxy's, go when the new ones stand, and were seen to stand, so that no
 * connection is lost in between. Where that fails they stay until a later start.
 */
async function removeOtherModes(
  container: Container,
  commandLine: CommandLine,
  present: OpenMode,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const standing = container.get(SYNC_LOOPS).map(async (loop) => (await loop.firstAttempt) ?? loop.inspect());
  const problem = (await Promise.all(standing)).find((found) => found !== undefined);
  if (problem !== undefined) {
    logger.warn({ problem }, 'rules of other modes, if there are any, stay: those of this mode do not stand');
    return;
  }
  for (const mode of allModes(commandLine, logger)) {
    if (mode.name === present.name) continue;
    try {
      await mode.cleanUp({ ...present, signal });
    } catch (error) {
      logger.warn({ mode: mode.name, error }, 'rules of another mode could not be removed');
    }
  }
}

/** The listeners stay: whoever minds child processes ends this one at a signal that nobody else listens to. */
function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
}
