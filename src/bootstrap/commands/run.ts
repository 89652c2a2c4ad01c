import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { composeProxy, Proxy } from '../proxy.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import { checkKernel } from '../kernel-check.js';
import { openNftTransports } from '../nft-transport.js';
import { versionLine } from '../version.js';

/** Serves until SIGTERM or SIGINT. The rules stay. */
export async function run(commandLine: CommandLine, logger: Logger): Promise<number> {
  checkKernel();
  const transports = await openNftTransports(commandLine.nftTransport, logger);
  const families = supportedFamilies();
  logger.info(
    {
      version: versionLine(),
      mode: 'nftables',
      transport: transports.name,
      families,
      node: commandLine.nodeName,
    },
    'starting',
  );
  const proxy = new Proxy(composeProxy(commandLine, families, transports, logger));
  const ended = endSignal();
  try {
    await proxy.start();
    logger.info({ signal: await ended }, 'stopping; the rules stay');
    return 0;
  } finally {
    await proxy.stop();
  }
}

function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}
