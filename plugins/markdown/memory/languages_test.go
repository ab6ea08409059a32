package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestMarkdownAnyLanguage: a fact is noted in the words of its language,
// noted once, and recalled by a question in it, before notes that have nothing
// to do with it.
func TestMarkdownAnyLanguage(t *testing.T) {
	features.Proves(t, "K28")
	for _, c := range []struct {
		language, fact, again, other, question string
	}{
		{"German", "Schreibe niemals direkt in die Datenbank.", "Niemals direkt in die Datenbank schreiben!",
			"Wir haben beschlossen, den Zwischenspeicher zu entfernen.", "Wie kommt der Wert in die Datenbank?"},
		{"French", "Il faut toujours passer par la file d'attente.", "Toujours passer par la file d'attente, il faut.",
			"Nous avons décidé de garder le vieux format.", "Que fait la file d'attente ?"},
		{"Russian", "Всегда пиши тесты до кода.", "Пиши тесты до кода всегда!",
			"Мы решили оставить старый формат данных.", "Где лежат тесты?"},
		{"Spanish", "Nunca borres las copias de la base de datos.",
			"Las copias de la base de datos no las borres nunca.", "Hemos decidido mantener el formato antiguo.",
			"¿Dónde están las copias?"},
		{"Chinese", "我们决定把缓存放在磁盘上。", "把缓存放在磁盘上，我们决定。", "必须在提交之前运行代码检查。", "缓存为什么这么慢"},
		{"Japanese", "キャッシュは必ずディスクに置くこと。", "必ずキャッシュはディスクに置くこと", "古い形式を残すことにした。", "キャッシュが遅いのはなぜ"},
		{"Korean", "캐시는 반드시 디스크에 두세요.", "반드시 캐시는 디스크에 두세요!", "이전 형식을 유지하기로 결정했습니다.", "캐시는 왜 느린가요"},
		{"Thai", "ต้องเก็บแคชไว้บนดิสก์เท่านั้น", "เก็บแคชไว้บนดิสก์เท่านั้นต้อง", "เราตัดสินใจใช้รูปแบบเดิมต่อไป",
			"ทำไมแคชถึงช้า"},
		{"Arabic", "يجب حفظ النسخ في قاعدة البيانات", "حفظ النسخ في قاعدة البيانات يجب",
			"قررنا الإبقاء على الصيغة القديمة", "أين توجد قاعدة البيانات"},
		{"Hindi", "डेटाबेस की प्रति हमेशा डिस्क पर रखो।", "हमेशा डेटाबेस की प्रति डिस्क पर रखो",
			"हमने पुराना प्रारूप रखने का फैसला किया।", "डेटाबेस धीमा क्यों है"},
	} {
		t.Run(c.language, func(t *testing.T) {
			p := newPlugin()
			out := p.call(t, around("?", user(c.other), user(c.fact)))
			if !slices.Equal(out.Retain, []string{c.other, c.fact}) {
				t.Fatalf("retained %q", out.Retain)
			}
			in := around(c.question, user(c.again))
			in.Session.ID = "s2"
			out = p.call(t, in)
			if len(out.Retain) > 0 {
				t.Errorf("noted again as %q", out.Retain)
			}
			lines := strings.Split(out.Inject, "\n")
			if len(lines) < 2 || !strings.Contains(lines[1], strings.Fields(c.fact)[0]) || strings.Contains(lines[1], c.other) {
				t.Errorf("recalled %q", lines)
			}
		})
	}
}

// TestMarkdownFormInAnyLanguage: what a person lists or names is noted
// without any word that the plugin knows.
func TestMarkdownFormInAnyLanguage(t *testing.T) {
	features.Proves(t, "K28")
	for _, said := range []string{
		"- palvelin kuuntelee vain paikallista osoitetta\n- jokaisella virheellä on pysyvä tunnus koodissa",
		"laita loki tiedostoon log/main.txt",
		"- máy chủ chỉ nghe trên địa chỉ nội bộ",
		"- 服务器仅监听本地地址",
	} {
		t.Run(fmt.Sprintf("%.40q", said), func(t *testing.T) {
			want := strings.Split(strings.ReplaceAll(said, "- ", ""), "\n")
			if out := newPlugin().call(t, around("?", user(said))); !slices.Equal(out.Retain, want) {
				t.Errorf("%q: retained %q", said, out.Retain)
			}
		})
	}
}

// TestMarkdownTakenBack: a wish that is taken back in the next words is none, and what is wanted
// in its place is kept.
func TestMarkdownTakenBack(t *testing.T) {
	features.Proves(t, "K28")
	const wish, other = "Always indent the code with tabs.", "Never push to the main branch."
	const about = "The old script would never mind that order at all, it only warns."
	for _, c := range []struct {
		why  string
		said []string
		want []string
	}{
		{"nothing takes it back", []string{wish, other}, []string{wish, other}},
		{"in the next sentence", []string{wish + " Scratch that.", other}, []string{other}},
		{"with what is wanted in its place", []string{wish + " No wait, always indent the code with spaces."},
			[]string{"No wait, always indent the code with spaces."}},
		{"not at its beginning", []string{wish + " Hm, actually forget that."}, nil},
		{"in the next message", []string{wish, "Never mind.", other}, []string{other}},
		{"in German", []string{"Schreibe niemals direkt in die Datenbank. Vergiss das.", other}, []string{other}},
		{"in Chinese", []string{"我们决定把缓存放在磁盘上。算了。", other}, []string{other}},
		{"one of several, which nobody knows", []string{wish + " " + other, "Never mind."}, []string{wish, other}},
		{"another thing much later", []string{wish, "Show the log.", "Never mind."}, []string{wish}},
		{"words about something else", []string{wish + " " + about}, []string{wish, about}},
	} {
		t.Run(c.why, func(t *testing.T) {
			var msgs []abi.Message
			for _, said := range c.said {
				msgs = append(msgs, user(said))
			}
			out := newPlugin().call(t, around("?", msgs...))
			if out == nil {
				out = &abi.Output{}
			}
			if !slices.Equal(out.Retain, c.want) {
				t.Errorf("retained %q, want %q", out.Retain, c.want)
			}
		})
	}
}
