import type { Logger } from '../../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../../application/use-cases/await-lists.js';
import type { CommandLine } from '../configuration/command-line.js';
import { ConfigurationError } from '../configuration/errors.js';
import { allModes, chooseMode } from '../modes/choose-mode.js';
import { removeOtherModes } from '../modes/remove-other-modes.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import { composeProxy } from '../proxy.js';
import { printError } from '../../adapters/cli/print-error.js';

/**
 * Syncs once, removes the rules of other modes and leaves its own: 0 when everything is programmed and nothing else
 * remains, otherwise 1 with the reasons on standard error. Throws when nothing comes from the API server for `timeout`
 * milliseconds.
 */
export async function once(asked: CommandLine, logger: Logger, timeout = LISTING_TIMEOUT): Promise<number> {
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  if (chosen.name === 'userspace')
    throw new ConfigurationError('failed validate', [
      'mode userspace forwards connections only while it runs: --once would leave rules that lead nowhere',
    ]);
  const mode = await chosen.open();
  const { configuration } = commandLine;
  const silent = {
    ...commandLine,
    configuration: { ...configuration, healthzBindAddress: '', metricsBindAddress: '' },
  };
  const { parts } = composeProxy(silent, mode, logger);
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
      statuses.failures(family).map(({ key, reason }) => `${key} (${family}): ${reason}`),
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
