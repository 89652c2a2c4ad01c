import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { ConfigurationError } from '../configuration/errors.js';
import {
  CLUSTER_SOURCE,
  CONNTRACK_RECONCILERS,
  OBJECT_REPORTS,
  SERVICE_STATUSES,
  SYNC_LOOPS,
} from '../identifiers.js';
import { chooseMode } from '../modes/choose-mode.js';
import { composeProxy, Proxy } from '../proxy.js';

/** Syncs once and leaves the rules: 0 when everything is programmed, otherwise 1 with the reasons on standard error. */
export async function once(asked: CommandLine, logger: Logger): Promise<number> {
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  if (chosen.name === 'userspace')
    throw new ConfigurationError('failed validate', [
      'mode userspace serves as long as it runs: --once would leave rules that lead to nobody',
    ]);
  const mode = await chosen.open();
  const { configuration } = commandLine;
  const silent = {
    ...commandLine,
    configuration: { ...configuration, healthzBindAddress: '', metricsBindAddress: '' },
  };
  const container = composeProxy(silent, mode, logger);
  const proxy = new Proxy(container);
  try {
    await proxy.start();
    const attempts = Promise.all(container.get(SYNC_LOOPS).map((loop) => loop.firstAttempt));
    const outcomes = await Promise.race([attempts, proxy.failure]);
    await Promise.all(container.get(CONNTRACK_RECONCILERS).map((reconciler) => reconciler.settled()));
    const failures = mode.families.flatMap((family) =>
      container
        .get(SERVICE_STATUSES)
        .failures(family)
        .map(({ key, reason }) => `${key} (${family}): ${reason}`),
    );
    const reasons = [
      ...outcomes.flatMap((error) => error ?? []),
      ...failures,
      ...container.get(OBJECT_REPORTS).rejected,
      ...container.get(CLUSTER_SOURCE).problems,
    ];
    for (const reason of reasons) process.stderr.write(`not programmed: ${reason}\n`);
    return reasons.length === 0 ? 0 : 1;
  } finally {
    await proxy.stop();
  }
}
