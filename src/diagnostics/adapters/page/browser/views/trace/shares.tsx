import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { hostPort } from '../../../../../../domain/net/ip-family.js';
import type { TracedEndpoint } from '../../../../../domain/trace/trace.js';
import { addressOrder } from '../../address-order.js';
import { compare } from '../../compare.js';
import type { Column } from '../../parts/grid/column.js';
import { Grid } from '../../parts/grid/grid.js';
import { counted } from '../../parts/time.js';

const MOST_ROWS = 12;

const COLUMNS: readonly Column<TracedEndpoint>[] = [
  { name: 'address', title: 'Endpoint', text: placeOf },
  { name: 'number', title: 'Probability', text: ({ probability }) => percent(probability) },
  {
    name: 'share-bar',
    title: 'Share',
    text: ({ probability }) => percent(probability),
    cell: ({ probability }) => <span class="share" style={{ width: `${probability * 100}%` }} />,
  },
];

/** Where the packet may go, with which probability, by address; that it is the same for all is said once. */
export function Shares({ endpoints }: { readonly endpoints: readonly TracedEndpoint[] }): JSX.Element {
  const sorted = useMemo(() => byAddress(endpoints), [endpoints]);
  const shares = new Set(endpoints.map(({ probability }) => percent(probability)));
  return (
    <>
      {endpoints.length > 1 && shares.size === 1 && (
        <p>
          {counted(endpoints.length, 'endpoint')}, each with {[...shares][0]}
        </p>
      )}
      <Grid
        name="shares"
        label="Where it may go"
        rows={sorted}
        columns={COLUMNS}
        keyOf={placeOf}
        most={MOST_ROWS}
      />
    </>
  );
}

function byAddress(endpoints: readonly TracedEndpoint[]): readonly TracedEndpoint[] {
  return endpoints
    .map((endpoint) => ({ endpoint, order: addressOrder(placeOf(endpoint)) }))
    .sort((a, b) => compare(a.order, b.order))
    .map(({ endpoint }) => endpoint);
}

function placeOf({ address, port }: TracedEndpoint): string {
  return hostPort(address, port);
}

function percent(probability: number): string {
  return `${Number((probability * 100).toFixed(1))} %`;
}
