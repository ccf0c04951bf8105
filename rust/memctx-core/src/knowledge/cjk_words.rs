//! Chinese, Japanese and Korean words.

use super::lexicon::flag::{
    CHANGE, COUNTS, FILLER, FROM, FROM_BEFORE, INSTEAD, LIGHT, MANY, NEGATES, NOT_BEFORE, PENDING, PIVOT,
    PLACE_OF_MANY, QUALIFY, REASON, TO, USE, WITHOUT,
};

/// Chinese, Japanese and Korean words by what they do.
pub(super) const CJK: [(u32, &str); 20] = [
    (
        FILLER,
        "的 了 已 已经 也 都 就 和 与 及 并 并且 或 我们 你们 他们 我 你 这 那 这个 那个 个 会 着 过 得 地 把 被 让 之 其 时 \
      进行 做 请 记住 记得 目前 现在 当前 要 来 去 里 中 内 后续 统一 一致 一直 \
      每 次 する します です ます いる ある この その ください 우리 우리는 그 이 저 및 또는 수 것 하다",
    ),
    (LIGHT | PIVOT, "是 为 在 位于 运行 运行在 监听 设为 设置 设置为 配置为 等于 即 放在 存在 属于 は が"),
    (LIGHT | PIVOT | USE, "使用 用 采用 选用 用的是 用了 有 使う 使用する 使います 用いる 사용"),
    (LIGHT, "决定 选择 保留 添加 增加 加 新增 加入 加上 採用 決定 결정 추가"),
    (
        LIGHT | CHANGE | PIVOT | TO,
        "改为 改成 改用 换成 换为 换用 替换为 切换到 切换为 迁移到 升级到 升级为 调整为 变为 变成 提高到 降到",
    ),
    (LIGHT | CHANGE, "改 更换 修改 变更 変更 移行 切り替え 切替 変える 변경 이전 전환 바꾸 교체"),
    (
        NEGATES,
        "不 没 没有 未 无 无需 不用 不再 不要 不能 不会 不可 不可以 别 勿 禁止 不准 不许 取消 停止 停用 移除 删除 去掉 弃用 放弃 废弃 \
      关闭 禁用 不是 并非 尚未 还没 还没有 之前是 之前用 以前 原来 ない ません ないで なくなった しない しません ではない ではありません \
      じゃない 廃止 無効 削除 않 않는다 않다 않음 않습니다 안 못 없다 없음 없 아니다 아님 금지 중단 삭제 제거 말 마",
    ),
    (FILLER | COUNTS, "应该 必须 可以 能 可 まで だけ より ごと しか 까지 부터 만 마다"),
    (WITHOUT, "除了 除 以外 なしで 없이"),
    (INSTEAD, "而不是 而非 不是用 取代 代替 替代"),
    (NOT_BEFORE, "ではなく じゃなく 대신 말고 아니라 の代わりに 代わりに"),
    (FROM, "从 由原来的"),
    (FROM_BEFORE, "から 에서"),
    (TO, "到 に へ 으로 로"),
    (QUALIFY, "对于 针对 关于 用于 用来 ために 위해"),
    (REASON, "因为 由于 所以 以便 ので ため 때문에 때문"),
    (PENDING, "待办 待处理 计划 打算 将 将要 准备 下一步 接下来 予定 예정 할일"),
    (
        PLACE_OF_MANY,
        "测试环境 生产环境 开发环境 预发环境 线上 本番 本番環境 開発環境 検証環境 ステージング 운영 개발 스테이징",
    ),
    (PIVOT, "部署 部署在 保存 保存在 存放 存储 存储在 返回 指向 写 负责 依赖 保留期 返す 保存 置く 배포 저장 반환"),
    (PIVOT | MANY, "支持 包含 包括 提供 需要 要求 允许 必要 許可 サポート 지원 필요 허용 포함"),
];

/// Words of these languages that mean the same as an English one, or the opposite of it behind `!`.
pub(super) const CJK_MEANINGS: [(&str, &str); 48] = [
    ("空格", "spaces"),
    ("制表符", "tabs"),
    ("端口", "port"),
    ("端口号", "port"),
    ("ポート", "port"),
    ("포트", "port"),
    ("数据库", "database"),
    ("データベース", "database"),
    ("데이터베이스", "database"),
    ("缓存", "cache"),
    ("キャッシュ", "cache"),
    ("캐시", "cache"),
    ("超时", "timeout"),
    ("超时时间", "timeout"),
    ("タイムアウト", "timeout"),
    ("타임아웃", "timeout"),
    ("开启", "enable"),
    ("启用", "enable"),
    ("打开", "enable"),
    ("有効", "enable"),
    ("关闭", "!enable"),
    ("禁用", "!enable"),
    ("停用", "!enable"),
    ("無効", "!enable"),
    ("允许", "allow"),
    ("許可", "allow"),
    ("허용", "allow"),
    ("禁止", "!allow"),
    ("금지", "!allow"),
    ("需要", "require"),
    ("必要", "require"),
    ("필요", "require"),
    ("可选", "!require"),
    ("公开", "public"),
    ("私有", "!public"),
    ("同步", "sync"),
    ("异步", "!sync"),
    ("秒", "second"),
    ("초", "second"),
    ("分钟", "minute"),
    ("分間", "minute"),
    ("분", "minute"),
    ("小时", "hour"),
    ("時間", "hour"),
    ("시간", "hour"),
    ("天", "day"),
    ("日間", "day"),
    ("毫秒", "millisecond"),
];

/// Values of these languages, as [`VALUES`].
pub(super) const CJK_VALUES: [&str; 5] = [
    "周一=星期一=礼拜一=月曜日=月曜=월요일 周二=星期二=礼拜二=火曜日=火曜=화요일 周三=星期三=礼拜三=水曜日=水曜=수요일 \
     周四=星期四=礼拜四=木曜日=木曜=목요일 周五=星期五=礼拜五=金曜日=金曜=금요일 周六=星期六=礼拜六=土曜日=土曜=토요일 \
     周日=星期日=星期天=日曜日=日曜=일요일 每天=毎日=매일 每周=毎週=매주 每月=毎月=매월 工作日 周末",
    "上午=午前=오전 下午=午後=오후 凌晨 晚上 中午",
    "修复=已修复=解决=已解决=完成=已完成=已合并=完了=修正済み=완료=해결 阻塞 失败=失敗=실패 通过=成功=성공 进行中=進行中=진행",
    "以上=至少 以下=至多=最多 最大 最小 大于 小于 超过 低于 前=之前 后=之后=以后 上 下",
    "所有=全部=任何=任意=모든 部分 一些 只=仅=仅仅=只有=만",
];

/// Words that are only here so that they are not taken apart.
pub(super) const CJK_WHOLE: &str = "用户 应用 调用 作用 通用 费用 引用 因为 作为 行为 认为 为了 正在 现有 有效 有效期 拥有 重要 主要 \
     不同 不仅 不过 不但 不足 不变 不断 不错 但是 还是 于是 而是 服务 服务器 配置 文件 前端 后端 框架 接口 登录 注册 订单 环境 测试 生产 开发 \
     日志 项目 模块 版本 默认 语言 会话 队列 消息 备份 迁移 重试 依赖 安装 验证码 评论 匿名 微服务 无状态 无服务器 上传 下载 功能 开关 \
     分页 字段 回调 地址 构建 命令 环境变量 变量 评审 代码 按钮 颜色 时间 中文 英文 日文 韩文 上海 北京 深圳 广州 杭州 机房 限流 架构 设计 分支 \
     权限 认证 部署 数据 接口文档 文档 前后端 线程 进程 索引 密码 密钥 令牌 サービス サーバー ユーザー 注文 認証 環境 開発 設定 言語 화면 서버 서비스";
