import type { EditEffect } from '../../application/configuration/apply-configuration.js';
import { commandFlags } from './flags/command-flags.js';
import { featureGateReference } from './schema/feature-gates.js';
import { fieldEntries, fieldsOf, type Field } from './schema/field.js';
import { flagHelp, modeNote } from './flags/flags.js';
import { schema } from './schema/schema.js';

const EFFECTS: Readonly<Record<EditEffect, readonly [shown: string, meaning: string]>> = {
  'at-once': ['at once', 'counts as soon as the edit is read'],
  resync: ['resync', 'the rules that depend on it are compiled again, and the difference is written'],
  restart: ['restart', 'needs a new start of the process'],
  none: ['no effect', 'is accepted for the sake of other versions and systems, and changes nothing'],
};

const INTRODUCTION = `# Configuration

<!-- Made by npm run docs from src/bootstrap/configuration; edit that. -->

The configuration is a \`KubeProxyConfiguration\` (\`kubeproxy.config.k8s.io/v1alpha1\`), as kube-proxy 1.36 reads it, or flags.
With \`--config\`, every flag that stands for a field is ignored, except those marked ● in the table: they win over the file.
Unknown and repeated fields are ignored with a warning in the log; a value of the wrong type is an error. Zero, empty text
and null mean "unset", except in fields marked ○, where only null does. Durations are written as \`1h30m\`, \`90s\` or \`250ms\`.
\`--write-config-to FILE\` writes what is in effect; \`/configz\` on the metrics server shows it.`;

const EDITS = `## Edits while running

The file that \`--config\` names is watched, also through the links of a mounted ConfigMap. An edit is validated as a whole.
A bad one is refused: the log names every field that is wrong, and what was in force stays, also when the file is gone. What a
good edit takes stands in the column "edit":`;

const AFTER_EDITS = `Fields of other modes than the one in force have no effect until the mode changes. Where an edit has a field that needs a
restart, nothing of it is applied: the process ends with exit code 1 and \`content of the proxy server's configuration file was
updated\`, as kube-proxy does, and whoever supervises it starts it again. The rules stay in place meanwhile.`;

/** The text of docs/configuration.md. */
export function configurationReference(): string {
  return `${[
    INTRODUCTION,
    EDITS,
    table(['edit', 'an edited field'], Object.values(EFFECTS)),
    AFTER_EDITS,
    '## Fields',
    table(['field', 'type', 'default', 'flag', 'edit', 'meaning'], fieldEntries(schema).map(fieldRow)),
    '## Other flags',
    'They count with and without `--config`.',
    table(['flag', 'type', 'default', 'meaning'], fieldsOf(commandFlags).map(flagRow)),
    '## Feature gates',
    'Set by `featureGates` or `--feature-gates`. Names of other gates are accepted with a warning, since a cluster may share one list among its components.',
    table(['gate', 'stage', 'default', 'effect here'], featureGateReference()),
  ].join('\n\n')}\n`;
}

function fieldRow([path, field]: readonly [string, Field<unknown>]): readonly string[] {
  const { type, options, onEdit } = field;
  const { flag, besideFile, keepsZero, modes, help, rule } = options;
  const must = rule?.text ? `It ${rule.text}.` : '';
  return [
    code(path) + (keepsZero ? ' ○' : ''),
    type.name,
    shownDefault(field),
    flag === undefined ? '' : code(`--${flag}`) + (besideFile ? ' ●' : ''),
    EFFECTS[onEdit][0],
    [help, must, modeNote(modes)].filter(Boolean).join(' '),
  ];
}

function flagRow(field: Field<unknown>): readonly string[] {
  const { flag = '' } = field.options;
  return [code(`--${flag}`), field.type.name, shownDefault(field), flagHelp(flag)];
}

function shownDefault(field: Field<unknown>): string {
  const shown = (value: unknown): string => code(field.type.format(value));
  const normal = shown(field.default);
  const byFlag = shown(field.flagDefault);
  return byFlag === normal ? normal : `${normal}, by flags ${byFlag}`;
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
