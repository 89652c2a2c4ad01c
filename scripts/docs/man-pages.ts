import { Help, type Option } from 'commander';
import { clusterCommand } from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { COMMAND_GROUPS, type CommandForm } from '../../src/adapters/cli/subcommand.js';
import { subcommands } from '../../src/diagnostics/adapters/cli/subcommands.js';
import { describeOption, flagOptions } from '../../src/bootstrap/configuration/arguments.js';

/** A page, and where it is below the folder of all man pages. */
export interface ManPage {
  readonly path: string;
  /** As man reads it: groff_man(7). */
  readonly text: string;
}

interface NamedPage {
  readonly name: string;
  readonly section: 1 | 8;
  /** What it is, in a few words. */
  readonly what: string;
  readonly synopsis: string;
  readonly body: readonly string[];
  readonly seeAlso: readonly string[];
}

const help = new Help();

const EXIT_CODES =
  '0: no problem was found. 1: a problem was found, or a name does not exist. 2: the command line is invalid. 3: no proxy or API server is reachable.';

/** The man pages of a version of the program, with the content of its `--help`. */
export function manPages(version: string): readonly ManPage[] {
  return [kubeproxy, plugin, proxy].map((page) => ({
    path: `man${page.section}/${page.name}.${page.section}`,
    text: pageText(page, version),
  }));
}

const kubeproxy: NamedPage = {
  name: 'kubeproxy',
  section: 1,
  what: 'ask the service proxy of a Kubernetes node, and what it would do',
  synopsis: 'COMMAND [flags]',
  body: [
    '.SH DESCRIPTION',
    ...paragraph(
      'Without a command, it is the proxy of this node: kube-proxy-ts(8), whose flags all commands take as well.',
    ),
    ...paragraph(EXIT_CODES),
    ...COMMAND_GROUPS.flatMap((group) => [
      `.SH ${roff(group.replace(/:$/, '').toUpperCase())}`,
      ...(subcommands as readonly GroupedForm[])
        .filter((one) => !one.isHidden && (one.group ?? COMMAND_GROUPS[0]) === group)
        .flatMap(commandLines),
    ]),
  ],
  seeAlso: ['kubectl-kubeproxy(1)', 'kube-proxy-ts(8)'],
};

const plugin: NamedPage = {
  name: 'kubectl-kubeproxy',
  section: 1,
  what: 'ask the service proxies of all nodes of a Kubernetes cluster',
  synopsis: 'COMMAND [flags]',
  body: [
    '.SH DESCRIPTION',
    ...paragraph(clusterCommand.description),
    ...paragraph('kubectl runs it as kubectl kubeproxy.'),
    ...paragraph(EXIT_CODES),
    '.SH FLAGS OF ALL COMMANDS',
    ...[...clusterCommand.options!, ...clusterCommand.namedFlags!.options].flatMap(optionLines),
    '.SH COMMANDS',
    ...(clusterCommand.commands ?? []).flatMap(commandLines),
  ],
  seeAlso: ['kubeproxy(1)', 'kubectl(1)'],
};

const proxy: NamedPage = {
  name: 'kube-proxy-ts',
  section: 8,
  what: 'the service proxy of a Kubernetes node',
  synopsis: '[flags]',
  body: [
    '.SH DESCRIPTION',
    ...paragraph(
      'Programs the services of a Kubernetes cluster into the kernel of a node, as kube-proxy does. The program is kubeproxy, without a command; in the image, kube-proxy.',
    ),
    ...paragraph(
      'With --config the file, a KubeProxyConfiguration, counts, and those flags that concern it have no effect.',
    ),
    ...flagLines(flagOptions(new Map())),
  ],
  seeAlso: ['kubeproxy(1)', 'nft(8)', 'iptables(8)', 'ipvsadm(8)'],
};

interface GroupedForm extends CommandForm {
  readonly group?: (typeof COMMAND_GROUPS)[number];
}

function pageText({ name, section, what, synopsis, body, seeAlso }: NamedPage, version: string): string {
  const program = section === 8 ? 'kubeproxy' : name;
  const lines = [
    `.TH ${roff(name.toUpperCase())} ${section} "" "kube\\-proxy\\-ts ${roff(version)}"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(what)}`,
    '.SH SYNOPSIS',
    `.B ${roff(program)}`,
    roff(synopsis),
    ...body,
    '.SH SEE ALSO',
    seeAlso.map((page) => roff(page)).join(', '),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines({ name, usage, description, options = [] }: CommandForm): readonly string[] {
  return [`.SS "${roff(name)} ${roff(usage)}"`, ...paragraph(description), ...options.flatMap(optionLines)];
}

/** With a heading for each group. */
function flagLines(options: readonly Option[]): readonly string[] {
  const groups = new Set(options.map(({ helpGroupHeading = '' }) => helpGroupHeading));
  return [...groups].flatMap((group) => [
    `.SH ${roff(group.replace(/:$/, '').toUpperCase())}`,
    ...options.filter(({ helpGroupHeading = '' }) => helpGroupHeading === group).flatMap(optionLines),
  ]);
}

/** As `--help` describes it, with what it may be and usually is. */
function optionLines(option: Option): readonly string[] {
  return ['.TP', `.B "${roff(help.optionTerm(option))}"`, roff(describeOption(option))];
}

function paragraph(text: string): readonly string[] {
  return ['.PP', roff(text)];
}

/** A literal text, on one line that is no request: a minus stays one, and non-ASCII characters are named. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^[.']/, '\\&$&')
    .replace(
      /[^ -~]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
