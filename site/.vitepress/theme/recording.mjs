import 'asciinema-player/dist/bundle/asciinema-player.css';
import { h, onMounted, onUnmounted, ref } from 'vue';

/** By path, each loaded when it is shown. */
const casts = import.meta.glob('../../../docs/internals/casts/*.cast', { query: '?raw', import: 'default' });

/** Plays a recording of docs/internals/casts. */
export const Recording = {
  props: { name: String, title: String },
  setup({ name, title }) {
    const place = ref();
    let player;
    onMounted(async () => {
      const { create } = await import('asciinema-player');
      const data = await casts[`../../../docs/internals/casts/${name}.cast`]();
      if (place.value) player = create({ data }, place.value, { preload: true, poster: 'npt:0:9' });
    });
    onUnmounted(() => player?.dispose());
    return () => h('div', { ref: place, role: 'figure', 'aria-label': title });
  },
};
