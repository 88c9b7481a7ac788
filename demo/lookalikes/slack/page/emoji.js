// The most used emoji, by short name.

const TABLE = "+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|ok_hand 👌|wave 👋|clap 👏|raised_hands 🙌|pray 🙏|muscle 💪|eyes 👀|point_right 👉|point_up ☝️|point_down 👇|handshake 🤝|" +
  "smile 😄|grinning 😀|slightly_smiling_face 🙂|wink 😉|joy 😂|thinking_face 🤔|sob 😭|scream 😱|sweat_smile 😅|sunglasses 😎|sleeping 😴|face_with_monocle 🧐|robot_face 🤖|skull 💀|ghost 👻|" +
  "white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|warning ⚠️|no_entry ⛔|no_entry_sign 🚫|octagonal_sign 🛑|construction 🚧|rotating_light 🚨|bell 🔔|no_bell 🔕|mega 📣|loudspeaker 📢|" +
  "exclamation ❗|question ❓|heavy_exclamation_mark ❗|bangbang ‼️|information_source ℹ️|" +
  "red_circle 🔴|large_red_circle 🔴|large_orange_circle 🟠|large_yellow_circle 🟡|large_green_circle 🟢|large_blue_circle 🔵|large_purple_circle 🟣|white_circle ⚪|black_circle ⚫|" +
  "large_red_square 🟥|large_orange_square 🟧|large_yellow_square 🟨|large_green_square 🟩|large_blue_square 🟦|white_large_square ⬜|black_large_square ⬛|small_red_triangle 🔺|small_red_triangle_down 🔻|" +
  "fire 🔥|boom 💥|zap ⚡|sparkles ✨|star ⭐|tada 🎉|rocket 🚀|dart 🎯|hammer 🔨|wrench 🔧|hammer_and_wrench 🛠️|gear ⚙️|lock 🔒|unlock 🔓|key 🔑|shield 🛡️|link 🔗|scissors ✂️|wastebasket 🗑️|broom 🧹|package 📦|floppy_disk 💾|" +
  "computer 💻|desktop_computer 🖥️|satellite_antenna 📡|electric_plug 🔌|battery 🔋|thermometer 🌡️|snowflake ❄️|ice_cube 🧊|droplet 💧|ocean 🌊|cloud ☁️|sunny ☀️|hot_face 🥵|cold_face 🥶|dash 💨|tornado 🌪️|" +
  "hourglass ⌛|hourglass_flowing_sand ⏳|stopwatch ⏱️|alarm_clock ⏰|clock1 🕐|clock3 🕒|calendar 📆|date 📅|spiral_calendar_pad 🗓️|" +
  "chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|clipboard 📋|memo 📝|page_facing_up 📄|scroll 📜|books 📚|bookmark 🔖|label 🏷️|mag 🔍|mag_right 🔎|bulb 💡|pushpin 📌|paperclip 📎|file_folder 📁|open_file_folder 📂|inbox_tray 📥|outbox_tray 📤|" +
  "arrow_up ⬆️|arrow_down ⬇️|arrow_left ⬅️|arrow_right ➡️|arrow_upper_right ↗️|arrow_lower_right ↘️|arrows_counterclockwise 🔄|repeat 🔁|rewind ⏪|fast_forward ⏩|arrow_forward ▶️|double_vertical_bar ⏸️|black_square_for_stop ⏹️|leftwards_arrow_with_hook ↩️|" +
  "train 🚋|train2 🚆|steam_locomotive 🚂|railway_car 🚃|railway_track 🛤️|vertical_traffic_light 🚦|traffic_light 🚥|ambulance 🚑|fire_engine 🚒|bust_in_silhouette 👤|busts_in_silhouette 👥|male-technologist 👨‍💻|technologist 🧑‍💻|heart ❤️|green_heart 💚|100 💯|moneybag 💰|" +
  "one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|new 🆕|sos 🆘|ok 🆗|heavy_plus_sign ➕|heavy_minus_sign ➖|crescent_moon 🌙|coffee ☕|bug 🐛|snail 🐌|turtle 🐢|crystal_ball 🔮|microscope 🔬|test_tube 🧪|puzzle_piece 🧩|brain 🧠|beach_with_umbrella 🏖️|speech_balloon 💬|email 📧|telephone_receiver 📞|pager 📟|see_no_evil 🙈|ear 👂|toolbox 🧰|adhesive_bandage 🩹|stethoscope 🩺";

const EMOJI = new Map(TABLE.split("|").map((entry) => {
  const cut = entry.indexOf(" ");
  return [entry.slice(0, cut), entry.slice(cut + 1)];
}));

export const emoji = (name) => EMOJI.get(name.split("::")[0]) ?? null;
export const REACTIONS = ["white_check_mark", "eyes", "raised_hands", "+1", "rotating_light", "tada"];
