import { stringify } from 'yaml';
import type { OutputFormat } from '../../configuration/subcommands/subcommand.js';

/** A value in the format asked for, with its end of line. JSON and YAML are the value itself. */
export function formatted<Value>(
  format: OutputFormat,
  value: Value,
  text: (value: Value, isWide: boolean) => string,
): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case 'yaml':
      return stringify(value);
    case 'text':
    case 'wide':
      return text(value, format === 'wide');
  }
}
