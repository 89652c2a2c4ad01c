import { writeFileSync } from 'node:fs';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { configurationText } from '../configuration/configuration-text.js';

/** Writes the configuration in effect to the file that `--write-config-to` names. Nothing else is touched. */
export async function writeConfiguration(commandLine: CommandLine, logger: Logger): Promise<number> {
  const { writeConfigTo: file } = commandLine;
  try {
    writeFileSync(file, configurationText(commandLine));
  } catch (cause) {
    throw new Error(`cannot write the configuration to ${file}`, { cause });
  }
  logger.info({ file }, 'wrote configuration');
  return 0;
}
