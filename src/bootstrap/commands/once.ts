import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import {
  CLUSTER_SOURCE,
  CONNTRACK_RECONCILERS,
  OBJECT_REPORTS,
  SERVICE_STATUSES,
  SYNC_LOOPS,
} from '../identifiers.js';
import { checkKernel } from '../kernel-check.js';
import { openNftTransports } from '../nft-transport.js';
import { composeProxy, Proxy } from '../proxy.js';

/** Syncs once and leaves the rules: 0 when everything is programmed, otherwise 1 with the reasons on standard error. */
export async function once(commandLine: CommandLine, logger: Logger): Promise<number> {
  checkKernel();
  const transports = await openNftTransports(commandLine.nftTransport, logger);
  const families = supportedFamilies();
  const { configuration } = commandLine;
  const silent = {
    ...commandLine,
    configuration: { ...configuration, healthzBindAddress: '', metricsBindAddress: '' },
  };
  const container = composeProxy(silent, families, transports, logger);
  const proxy = new Proxy(container);
  try {
    await proxy.start();
    const outcomes = await Promise.all(container.get(SYNC_LOOPS).map((loop) => loop.firstAttempt));
    await Promise.all(container.get(CONNTRACK_RECONCILERS).map((reconciler) => reconciler.settled()));
    const failures = families.flatMap((family) =>
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
