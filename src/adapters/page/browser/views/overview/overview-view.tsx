import type { JSX } from 'preact';
import type { History, ProxyStatus } from '../../asking/answers.js';
import { historyOf, STATUS } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Changes } from '../../parts/changes.js';
import { Trouble } from '../../parts/trouble.js';
import { Failures } from './failures.js';
import { Health } from './health.js';
import { Latency } from './latency.js';

const RECENT = 20;
const AT_LEAST_EVERY = 10_000;

/** How the proxy of this node is, how quick it is, and what failed. */
export function OverviewView(): JSX.Element {
  const changed = useChanges();
  const status = useFollowed<ProxyStatus>(STATUS);
  const history = useFollowed<History>(historyOf(), { period: AT_LEAST_EVERY, when: changed });
  const { changes, total } = history.value ?? { changes: [], total: 0 };
  return (
    <>
      <h1 class="unseen">Overview</h1>
      <section class="panel" aria-labelledby="health">
        <h2 id="health">Health</h2>
        <Trouble problem={status.problem} what="status" />
        {status.value && <Health status={status.value} />}
      </section>
      {status.value && <Failures status={status.value} />}
      <section class="panel" aria-labelledby="latency">
        <h2 id="latency">From a change to the kernel</h2>
        <Trouble problem={history.problem} what="history" />
        {history.value && <Latency changes={changes} total={total} />}
      </section>
      {history.value && (
        <section class="panel" aria-labelledby="recent">
          <h2 id="recent">Last changes</h2>
          <Changes changes={changes.slice(-RECENT).reverse()} naming />
        </section>
      )}
    </>
  );
}
