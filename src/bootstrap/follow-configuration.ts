import { isDeepStrictEqual } from 'node:util';
import { FileWatch } from '../adapters/folder-watch.js';
import type { PinoLogger } from '../adapters/process/pino-logger.js';
import { ApplyConfiguration } from '../application/live-configuration.js';
import { parseCommandLine, type CommandLine } from './configuration/command-line.js';
import {
  editedFields,
  logSettings,
  modeInForce,
  modeSettings,
  withModeAsBefore,
} from './configuration/proxy-configuration.js';
import { checkedSettings, nodeSettings } from './this-node.js';
import type { ReadingParts } from './parts.js';
import { NamedError } from '../domain/model/named-error.js';

/** An edit of the configuration needs a restart of the process, which is left to its supervisor. */
class ConfigurationUpdatedError extends NamedError {
  constructor() {
    super("content of the proxy server's configuration file was updated");
  }
}

/** What edits of the configuration change in a proxy that runs. */
type EditedParts = Pick<ReadingParts, 'live' | 'served' | 'checkNode' | 'contexts' | 'health'>;

/**
 * Applies edits of the configuration file to a running proxy, until aborted. Without a file there is nothing to follow.
 * @param asked the command line before the mode was chosen
 * @throws ConfigurationUpdatedError
 */
export async function followConfiguration(
  asked: CommandLine,
  { live, served: families, checkNode: checks, contexts, health }: EditedParts,
  logger: PinoLogger,
  signal: AbortSignal,
): Promise<void> {
  const { argv, config } = asked;
  if (config === '') return;
  live.onChange((commandLine, former) => {
    const { configuration } = commandLine;
    const periods = modeSettings(configuration, modeInForce(configuration));
    const log = logSettings(configuration);
    // Otherwise a level that was set over HTTP since would be lost.
    if (!isDeepStrictEqual(log, logSettings(former.configuration))) logger.adjust(log);
    health.use(2 * periods.syncPeriod);
    contexts.use(nodeSettings(commandLine));
    for (const { loop } of families) loop.use(periods);
  });
  const resync = (): void => {
    for (const { loop } of families) {
      loop.pending.nodeChanged();
      loop.changed();
    }
  };
  const edits = new ApplyConfiguration(live, editedFields, resync, logger);
  const watch = new FileWatch(config, logger);
  try {
    for (;;) {
      const contents = await watch.next(signal);
      if (!contents) return;
      const readFile = (): string => {
        if ('error' in contents) throw contents.error;
        return contents.text;
      };
      const outcome = edits.apply(() => {
        const commandLine = parseCommandLine(argv, { readFile });
        const present = modeInForce(live.current.configuration);
        const configuration = withModeAsBefore(commandLine.configuration, asked.configuration.mode, present);
        const edited = { ...commandLine, configuration };
        const fields = editedFields(live.current, edited);
        if (fields.some(({ effect }) => effect === 'resync')) checks.edited(checkedSettings(edited));
        for (const warning of edited.warnings)
          if (!live.current.warnings.includes(warning)) logger.warn({}, warning);
        return edited;
      });
      if (outcome === 'restart') throw new ConfigurationUpdatedError();
    }
  } finally {
    watch.close();
  }
}
