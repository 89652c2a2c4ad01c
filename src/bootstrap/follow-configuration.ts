import { isDeepStrictEqual } from 'node:util';
import { FileWatch } from '../adapters/folder-watch.js';
import type { PinoLogger } from '../adapters/process/pino-logger.js';
import { errorMessage } from '../application/error-message.js';
import { NamedError } from '../domain/model/named-error.js';
import { parseCommandLine, withRelease, type CommandLine } from './configuration/command-line.js';
import type { EditEffect } from './configuration/field.js';
import {
  editedFields,
  logSettings,
  modeInForce,
  modeSettings,
  withModeAsBefore,
} from './configuration/proxy-configuration.js';
import type { ReadingParts } from './parts.js';
import { checkedSettings, nodeSettings } from './this-node.js';

/** An edit of the configuration needs a restart of the process, which is left to its supervisor. */
class ConfigurationUpdatedError extends NamedError {
  constructor() {
    super("content of the proxy server's configuration file was updated");
  }
}

/** The parts of a running proxy that edits of the configuration change. */
type EditedParts = Pick<ReadingParts, 'live' | 'served' | 'checkNode' | 'contexts' | 'health'>;

/**
 * Applies edits of the configuration file to a running proxy, until aborted. Without a file there is nothing to follow. An invalid edit
 * is rejected as a whole, and the configuration in force stays. An edit with a field that needs a restart is not applied at all: the
 * new process reads it.
 * @param asked the command line before the mode was chosen
 * @throws ConfigurationUpdatedError
 */
export async function followConfiguration(
  asked: CommandLine,
  parts: EditedParts,
  logger: PinoLogger,
  signal: AbortSignal,
): Promise<void> {
  if (asked.config === '') return;
  const { live } = parts;
  const watch = new FileWatch(asked.config, logger);
  try {
    for (;;) {
      const contents = await watch.next(signal);
      if (!contents) return;
      const readFile = (): string => {
        if ('error' in contents) throw contents.error;
        return contents.text;
      };
      let edited: CommandLine;
      try {
        edited = readEdit(asked, parts, readFile);
      } catch (error) {
        live.problem = errorMessage(error);
        const facts = { problem: live.problem };
        logger.error(facts, 'rejected the edited configuration; keeping the last valid version');
        continue;
      }
      applyEdit(edited, parts, logger);
    }
  } finally {
    watch.close();
  }
}

/**
 * The command line with the edited file, in the mode in force if the file requests that mode.
 * @throws any error, with the reason why the edit is invalid
 */
function readEdit(asked: CommandLine, { live, checkNode }: EditedParts, readFile: () => string): CommandLine {
  const read = parseCommandLine(asked.argv, { readFile });
  const followsServer = !asked.isReleaseSet && !read.isReleaseSet;
  const commandLine = followsServer ? withRelease(read, asked.configuration.kubernetesVersion) : read;
  const present = modeInForce(live.current.configuration);
  const configuration = withModeAsBefore(commandLine.configuration, asked.configuration.mode, present);
  const edited = { ...commandLine, configuration };
  const fields = editedFields(live.current, edited);
  if (fields.some(({ effect }) => effect === 'resync')) checkNode.edited(checkedSettings(edited));
  return edited;
}

/** @throws ConfigurationUpdatedError */
function applyEdit(
  edited: CommandLine,
  { live, served, contexts, health }: EditedParts,
  logger: PinoLogger,
): void {
  const { current: previous, problem } = live;
  for (const warning of edited.warnings) if (!previous.warnings.includes(warning)) logger.warn({}, warning);
  const fields = editedFields(previous, edited);
  const paths = (effect: EditEffect) =>
    fields.filter((field) => field.effect === effect).map(({ path }) => path);
  const restart = paths('restart');
  if (restart.length > 0) {
    logger.warn({ fields: restart }, 'the edited configuration needs a restart');
    throw new ConfigurationUpdatedError();
  }
  live.current = edited;
  live.problem = undefined;
  if (fields.length === 0) {
    if (problem !== undefined)
      logger.info({}, 'the configuration file matches the active configuration again');
    return;
  }

  const { configuration } = edited;
  const periods = modeSettings(configuration, modeInForce(configuration));
  const log = logSettings(configuration);
  // Otherwise a level that was set over HTTP since would be lost.
  if (!isDeepStrictEqual(log, logSettings(previous.configuration))) logger.adjust(log);
  health.use(2 * periods.syncPeriod);
  contexts.use(nodeSettings(edited));
  const resync = paths('resync');
  for (const { loop } of served) {
    loop.use(periods);
    if (resync.length === 0) continue;
    loop.pending.nodeChanged();
    loop.changed();
  }
  logger.info(
    { atOnce: paths('at-once'), resync, withoutEffect: paths('none') },
    'applied the edited configuration',
  );
}
