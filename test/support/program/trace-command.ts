import { execa, type ResultPromise } from 'execa';
import { createInterface } from 'node:readline';
import type { TraceAnswer } from '../../../src/diagnostics/application/trace/answer.js';
import type { Host } from '../testbed/host.js';
import { builtProxy } from './built-proxy.js';

/** `kubeproxy trace --queries -` on a node: asks whichever proxy runs there when a query comes, and ends when it is stopped. */
export class TraceCommand {
  private readonly lines: AsyncIterator<string, undefined>;

  private constructor(private readonly process: ResultPromise<{ stdin: 'pipe'; reject: false }>) {
    this.lines = createInterface({ input: process.stdout! })[Symbol.asyncIterator]();
  }

  static async start(node: Host, args: readonly string[]): Promise<TraceCommand> {
    const program = [process.execPath, await builtProxy(), 'trace', '--queries', '-', ...args];
    const [file, ...rest] = node.commandLine(program);
    return new TraceCommand(execa(file!, rest, { stdin: 'pipe', reject: false }));
  }

  /** The answers in the order of the queries; fails with what the command complained about. */
  async answers(queries: readonly object[]): Promise<readonly TraceAnswer[]> {
    for (const query of queries) this.process.stdin!.write(`${JSON.stringify(query)}\n`);
    const answers: TraceAnswer[] = [];
    while (answers.length < queries.length) {
      const { value } = await this.lines.next();
      if (value === undefined) throw new Error(`kubeproxy trace has ended: ${(await this.process).stderr}`);
      answers.push(JSON.parse(value) as TraceAnswer);
    }
    return answers;
  }

  async stop(): Promise<void> {
    this.process.stdin!.end();
    await this.process;
  }
}
