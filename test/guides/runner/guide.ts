import { execaSync } from 'execa';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** One command of a guide, which may have several lines. */
export interface Step {
  /** Where a reader finds it: page and line. */
  readonly place: string;
  /** The title of the section that it stands in, without the number signs. */
  readonly section: string;
  /** As the page has it, remarks included. */
  readonly command: string;
  /** What the page says that it prints. */
  readonly shown?: string;
}

/**
 * The commands of a page: those of its ```sh blocks. A ```text block that follows such a block at once shows what the block's
 * last command prints.
 *
 * @param page its path from the root of the repository
 */
export function readGuide(page: string): readonly Step[] {
  return stepsOf(readFileSync(`${repository}${page}`, 'utf8'), page);
}

/** The commands of a page's text. */
export function stepsOf(text: string, page: string): readonly Step[] {
  const steps: Step[] = [];
  let section = '';
  for (const { kind, line, body } of partsOf(text)) {
    if (kind === 'title') section = body;
    if (kind === 'sh') {
      for (const { offset, command } of commandsOf(body))
        steps.push({ place: `${page}:${line + offset}`, section, command });
    }
    if (kind === 'shown' && steps.length > 0) steps.push({ ...steps.pop()!, shown: body });
  }
  return steps;
}

/**
 * The commands of a page's text after which a reader who pastes their block into a shell would go on although they failed, each with its
 * line: only the last of a block may fail, unless `&&` stops the rest.
 */
export function looseCommands(text: string): readonly string[] {
  return partsOf(text).flatMap(({ kind, line, body }) =>
    kind === 'sh'
      ? commandsOf(body)
          .slice(0, -1)
          .filter(({ command }) => !CANNOT_FAIL.test(command))
          .map(({ offset, command }) => `${line + offset}: ${command}`)
      : [],
  );
}

/** Sets a variable to what runs no command, or defines a function. */
const CANNOT_FAIL = /^(?:export )?\w+=(?:"[^"`(]*"|[^\s"`(]*)(?:\s+#.*)?$|^\w+\(\) \{[^]*\}$/;

interface Part {
  readonly kind: 'title' | 'sh' | 'shown';
  /** The line of the page, from 1, that the body begins in. */
  readonly line: number;
  readonly body: string;
}

const FENCE = /^```(\w*)$/;

function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  const lines = text.split('\n');
  let before = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const title = /^#+ (.*)$/.exec(line);
    const fence = FENCE.exec(line);
    if (title) parts.push({ kind: 'title', line: at + 1, body: title[1]! });
    if (fence) {
      const end = lines.indexOf('```', at + 1);
      if (end === -1) throw new Error(`the block of line ${at + 1} does not end`);
      const part = { line: at + 2, body: lines.slice(at + 1, end).join('\n') };
      if (fence[1] === 'sh') parts.push({ kind: 'sh', ...part });
      if (fence[1] === 'text' && before === 'sh') parts.push({ kind: 'shown', ...part });
      at = end;
    }
    if (line !== '') before = fence?.[1] ?? '';
  }
  return parts;
}

/** The commands of a block: each as many lines as bash needs for it to be complete. */
function commandsOf(block: string): readonly { offset: number; command: string }[] {
  const commands: { offset: number; command: string }[] = [];
  let open: { offset: number; command: string } | undefined;
  for (const [offset, line] of block.split('\n').entries()) {
    if (!open && /^\s*(?:#|$)/.test(line)) continue;
    open = open ? { ...open, command: `${open.command}\n${line}` } : { offset, command: line };
    if (!isComplete(open.command)) continue;
    commands.push(open);
    open = undefined;
  }
  // What bash never takes as complete is left to it to refuse.
  return open ? [...commands, open] : commands;
}

/** A line whose words need no quotes, and stand in no block. */
const PLAIN =
  /^(?!(?:if|for|while|until|case|select|function|time|then|else|elif|do|done|fi|esac|coproc)\b)[\w\s./:=@,%+-]*$/;
/** After these more must come, unless they belong to a remark. */
const OPEN = /(?:\\|&&|\|)$/;

/** As bash sees it, which is asked only where that is not plain. */
function isComplete(command: string): boolean {
  if (PLAIN.test(command)) return true;
  if (OPEN.test(command) && !command.slice(command.lastIndexOf('\n')).includes('#')) return false;
  // Of a here-document without its end bash only warns.
  const { exitCode, stderr } = execaSync('bash', ['-n'], { input: `${command}\n`, reject: false });
  return exitCode === 0 && stderr === '';
}
