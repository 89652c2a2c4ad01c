import type { JSX } from 'preact';
import type { History } from '../../../../../../application/status/change-entry.js';
import type { ProxyStatus } from '../../../../../application/status/proxy-status.js';
import type { ServiceCounts } from '../../../../../application/status/service-row.js';
import { historyOf, SERVICE_COUNTS } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed, type Followed } from '../../asking/use-followed.js';
import { Changes } from '../../parts/changes.js';
import { EmptyCluster } from '../../parts/empty-cluster.js';
import { Panel } from '../../parts/panel.js';
import { Trouble } from '../../parts/trouble.js';
import { hrefOf } from '../../place.js';
import { Counts } from './counts.js';
import { Failures } from './failures.js';
import { Health } from './health.js';
import { Latency } from './latency.js';

const RECENT = 20;
const AT_LEAST_EVERY = 10_000;

/** How the proxy of this node is, how quick it is, and what failed. */
export function OverviewView({ status }: { readonly status: Followed<ProxyStatus> }): JSX.Element {
  const changed = useChanges();
  const counts = useFollowed<ServiceCounts>(SERVICE_COUNTS, { period: AT_LEAST_EVERY, when: changed });
  const history = useFollowed<History>(historyOf(), { period: AT_LEAST_EVERY, when: changed });
  return (
    <>
      <h1 class="unseen">Overview</h1>
      <Panel id="health" title="Health" at={status.at}>
        <Trouble problem={status.problem} what="status" />
        {status.value && <Health status={status.value} />}
        {counts.value && <Counts {...counts.value} />}
      </Panel>
      {status.value && isEmpty(status.value) && <EmptyCluster />}
      {status.value && <Failures status={status.value} />}
      <Panel id="latency" title="From a change to the kernel" at={history.at}>
        <Trouble problem={history.problem} what="history" />
        {history.value && <Latency {...history.value} now={status.value?.now} />}
      </Panel>
      {history.value && (
        <Panel id="recent" title="Last changes" at={history.at}>
          <Changes changes={history.value.changes.slice(-RECENT).reverse()} naming />
          <p>
            <a href={hrefOf({ view: 'history', search: '', failing: false })}>
              All changes that are remembered
            </a>
          </p>
        </Panel>
      )}
    </>
  );
}

/** Everything is known and programmed, and there is nothing. */
function isEmpty({ inSync, families }: ProxyStatus): boolean {
  return inSync && families.every(({ programmed, failed }) => programmed + failed.length === 0);
}
