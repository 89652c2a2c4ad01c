import { askApiServer, userApiClient } from '../../adapters/cli/cluster/user-api-client.js';
import type { MigrationQuestion } from '../../adapters/cli/migration/migrate-arguments.js';
import { migrationLines } from '../../adapters/cli/migration/migration-lines.js';
import { ShellCheck } from '../../adapters/cli/migration/shell-check.js';
import { formatted } from '../../adapters/cli/output/formatted.js';
import { printError } from '../../adapters/cli/print-error.js';
import { print } from '../../adapters/cli/output/print.js';
import { untilUserEnds } from '../../adapters/cli/watching/until-user-ends.js';
import { ApiCluster } from '../../adapters/kubernetes/migration/api-cluster.js';
import { DaemonSets } from '../../adapters/kubernetes/migration/daemon-sets.js';
import { PodInspector } from '../../adapters/kubernetes/migration/pod-inspector.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { migrationExit, type MigrationReport } from '../../application/migration/migration-report.js';
import { Migration } from '../../application/migration/migration.js';
import { MigrationError } from '../../domain/migration/migration-error.js';
import type { Asked } from '../../diagnostics/bootstrap/asked.js';
import { readSettings } from './read-settings.js';

/**
 * Moves nodes to another service proxy or mode, or says what that would change. When the user ends it, the node that is being moved
 * goes back; a second signal ends the program.
 */
export async function migrate(asked: Asked<'migrate'>): Promise<number> {
  const { migration: question, output } = asked.request;
  let isStopped = false;
  try {
    const report = await untilUserEnds(({ signal }) => {
      signal.addEventListener('abort', () => {
        isStopped = true;
        printError('stopping: a node that is being moved goes back first');
      });
      return askApiServer(() => migrated(asked, question, signal));
    });
    await print(formatted(output, report, migrationLines));
    return migrationExit(report);
  } catch (error) {
    if (isStopped) {
      printError('stopped; no node was changed');
      return 1;
    }
    if (!(error instanceof MigrationError)) throw error;
    printError(`Error: ${error.message}`);
    for (const command of error.commands) printError(`  ${command}`);
    return 1;
  }
}

async function migrated(
  asked: Asked<'migrate'>,
  question: MigrationQuestion,
  signal: AbortSignal,
): Promise<MigrationReport> {
  const { proxyNamespace: namespace, selector, parallel, context } = asked.request.access;
  const { to, label, nodes, nodeLabels, image, expected, timeout, healthChecks } = question;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  const sets = new DaemonSets(client, { namespace, selector }, readSettings);
  const inspector = new PodInspector(client, sets, clock, { timeout, ...(image !== undefined && { image }) });
  await inspector.removeEnded(namespace, signal);
  const migration = new Migration(
    {
      to,
      label,
      namespace,
      nodes: { labels: nodeLabels, ...(nodes && { names: nodes }) },
      expected,
      timeout,
      parallel,
    },
    {
      cluster: new ApiCluster(client, sets, { namespace, selector }),
      inspector,
      healthChecks: healthChecks.map((command) => new ShellCheck(command)),
      clock,
      told: (node, step) => printError(`${node}: ${step}`),
    },
  );
  return question.check ? migration.check(signal) : migration.run(signal);
}
